/** The event bus of a node: publishes events of domains to subscribers. */
import type { DomainName } from '../domain-name/index.ts';
import { isOnDemand } from './on-demand.ts';

/** Data of an event, as JSON. */
export type EventValue =
  | string
  | number
  | boolean
  | null
  | readonly EventValue[]
  | { readonly [key: string]: EventValue };

export interface NodeEvent {
  /** Number of the event since the start of the node, from 1 without gaps. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly domain: DomainName;
  /** `callevents`, `modelevents`, `scenarioevents`, ... */
  readonly class: string;
  readonly type: string;
  readonly data: Readonly<Record<string, EventValue>>;
  /** The entity before the change; for filters only, never sent. */
  readonly before?: Readonly<Record<string, EventValue>>;
  /** Ids of the users concerned: they see it without a right to events of others. Never sent. */
  readonly users?: readonly string[];
  /** Another node publishes it, too. Never sent. */
  readonly elsewhere?: true;
}

/** Selects events; absent fields match everything. */
export interface EventFilter {
  readonly domain?: DomainName;
  readonly class?: string;
  readonly type?: string;
  /** Also events of classes that are published on demand: this listener is the demand. */
  readonly onDemand?: boolean;
}

/** Past events of a bus, as far as they are kept. */
export interface Past {
  readonly events: readonly NodeEvent[];
  /** False when events after the given one are no longer kept. */
  readonly complete: boolean;
}

export interface EventBusOptions {
  /** Number of past events kept. Default 10,000. */
  readonly kept?: number;
  readonly now?: () => number;
  /** Called when a listener threw; the other listeners still get the event. */
  readonly onListenerError: (error: unknown, event: NodeEvent) => void;
}

interface Listening {
  readonly filter: EventFilter;
  readonly listener: (event: NodeEvent) => void;
}

/** An event bus in memory. Listeners are called in order of publication, before `publish` returns. */
export class EventBus {
  readonly #kept: number;
  readonly #now: () => number;
  readonly #onListenerError: EventBusOptions['onListenerError'];
  readonly #listeners = new Set<Listening>();
  /** Subscribers of a domain's events, in order of subscription; computed on publication. */
  readonly #ofDomain = new Map<DomainName, readonly Listening[]>();
  /** A ring: the event `seq` is at `seq % kept`. */
  readonly #past: NodeEvent[] = [];
  #seq = 0;

  constructor({ kept = 10_000, now = Date.now, onListenerError }: EventBusOptions) {
    this.#kept = kept;
    this.#now = now;
    this.#onListenerError = onListenerError;
  }

  /** Number of the latest event; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** True while somebody wants the events of this domain that are published on demand. */
  isDemanded(domain: DomainName): boolean {
    return this.#concerned(domain).some(({ filter }) => filter.onDemand === true);
  }

  publish(event: Omit<NodeEvent, 'seq' | 'ts'>): NodeEvent {
    this.#seq += 1;
    const published: NodeEvent = { ...event, seq: this.#seq, ts: this.#now() };
    this.#past[this.#seq % this.#kept] = published;
    for (const { filter, listener } of this.#concerned(event.domain)) {
      if (!isOf(published, filter)) continue;
      try {
        listener(published);
      } catch (error) {
        this.#onListenerError(error, published);
      }
    }
    return published;
  }

  /** @returns the function that ends the subscription */
  subscribe(filter: EventFilter, listener: (event: NodeEvent) => void): () => void {
    const listening = { filter, listener };
    this.#listeners.add(listening);
    this.#ofDomain.clear();
    return () => {
      this.#listeners.delete(listening);
      this.#ofDomain.clear();
    };
  }

  #concerned(domain: DomainName): readonly Listening[] {
    const known = this.#ofDomain.get(domain);
    if (known !== undefined) return known;
    const found = [...this.#listeners].filter(({ filter }) => (filter.domain ?? domain) === domain);
    this.#ofDomain.set(domain, found);
    return found;
  }

  /** Events after this number. */
  since(seq: number, filter: EventFilter = {}): Past {
    const oldest = Math.max(1, this.#seq - this.#kept + 1);
    const events: NodeEvent[] = [];
    for (let next = Math.max(seq + 1, oldest); next <= this.#seq; next += 1) {
      const event = this.#past[next % this.#kept];
      if (event && matches(event, filter)) events.push(event);
    }
    // A number from the future belongs to an earlier run of the node.
    return { events, complete: seq + 1 >= oldest && seq <= this.#seq };
  }
}

function matches(event: NodeEvent, filter: EventFilter): boolean {
  return isOf(event, filter) && (filter.domain ?? event.domain) === event.domain;
}

function isOf(event: NodeEvent, { class: name, type, onDemand = false }: EventFilter): boolean {
  if (!onDemand && isOnDemand(event.class)) return false;
  return (name === undefined || name === event.class) && (type === undefined || type === event.type);
}
