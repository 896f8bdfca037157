/** The event bus for scenarios. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';

/** An event of a domain on the event bus. */
export interface BusEvent {
  /** Counts without gaps within one node. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly domain: DomainName;
  /** `scenarioevents` for what scenarios publish, `callevents`, `modelevents`, ... */
  readonly class: string;
  readonly type: string;
  readonly data: Readonly<Record<string, Value>>;
  /** Another node publishes it, too, and starts what it starts. */
  readonly elsewhere?: true;
}

/** Class of the events that scenarios publish. */
export const SCENARIO_EVENTS = 'scenarioevents';

/** The event bus for scenarios. */
export interface EventPort {
  publish(event: Omit<BusEvent, 'seq' | 'ts'>): BusEvent;
  /** Passes every event of this domain, class and type to the listener until the returned function is called. */
  subscribe(filter: Pick<BusEvent, 'domain' | 'class' | 'type'>, listener: (event: BusEvent) => void): () => void;
}

/** Splits an event name: `order_ready` is of the scenarios' class, `callevents.call_end` names its class. */
export function eventName(text: string): Pick<BusEvent, 'class' | 'type'> {
  const dot = text.indexOf('.');
  return dot < 0 ? { class: SCENARIO_EVENTS, type: text } : { class: text.slice(0, dot), type: text.slice(dot + 1) };
}
