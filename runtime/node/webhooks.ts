/** Webhooks of a node. */
import type { Logger } from 'pino';
import { AddressGuard } from '../../components/index.ts';
import type { Config } from '../config/index.ts';
import type { LiveDirectory } from '../domain/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Storage } from '../storage/index.ts';
import { Webhooks } from '../webhooks/index.ts';

export interface WebhookNeeds {
  readonly config: Pick<Config, 'webhookNetworks'>;
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Close it after the calls have ended, whose events are stored. */
export function openWebhooks({ config, storage, directory, events, metrics, log }: WebhookNeeds): Promise<Webhooks> {
  return Webhooks.open({
    storage,
    directory,
    events,
    addresses: new AddressGuard(config.webhookNetworks),
    observe: (result) => metrics.webhookDelivery(result),
    log,
  });
}
