/** Runs of scenarios as events, while somebody follows those of the domain: class `runevents`. */
import type { DomainName } from '../domain-name/index.ts';
import type { RUN_EVENTS } from './catalogue.ts';
import type { EventBus, NodeEvent } from './event-bus.ts';

interface RunFollowers {
  follow(domain: DomainName): boolean;
  tell(domain: DomainName, type: keyof typeof RUN_EVENTS, data: NodeEvent['data']): void;
}

export function runFollowers(bus: EventBus): RunFollowers {
  return {
    follow: (domain) => bus.isDemanded(domain),
    tell: (domain, type, data) => void bus.publish({ domain, class: 'runevents', type, data }),
  };
}
