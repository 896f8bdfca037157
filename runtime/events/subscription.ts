/** The events of one subscriber: numbered without gaps, and kept for a while, so that a lost connection can resume. */
import type { DomainName } from '../domain-name/index.ts';
import type { EventBus, NodeEvent } from './event-bus.ts';
import type { Replay } from './shared-events.ts';

/** An event in the subscriber's form. */
export interface Delivery {
  /** Number within the subscription, from 1 without gaps. */
  readonly seq: number;
  readonly event: NodeEvent;
}

/** Receives deliveries; it must not throw. */
export type Sink = (delivery: Delivery) => void;

/** Deliveries kept for a reconnecting subscriber. */
const KEPT = 1_000;

/** The subscriber's view of the bus. */
export interface Sight {
  /** The event in the subscriber's form; undefined: filtered out. Deterministic for an event. */
  readonly select: (event: NodeEvent) => NodeEvent | undefined;
  /** True while the subscriber has the right to see it. */
  readonly allows: (event: NodeEvent) => boolean;
  /** It wants events that are published on demand. */
  readonly onDemand?: boolean;
}

export class Subscription {
  readonly id: string;
  readonly #unsubscribe: () => void;
  readonly #select: Sight['select'];
  /** The latest deliveries, shared between subscribers; the last has the number `seq`. */
  #past: NodeEvent[] = [];
  #seq = 0;
  #sink: Sink | undefined;

  /** @param replay where its numbers go on, and what happened since then */
  constructor(
    id: string,
    bus: Pick<EventBus, 'subscribe'>,
    domain: DomainName,
    { select, allows, onDemand = false }: Sight,
    replay: Replay = { seq: 0, events: [] },
  ) {
    this.id = id;
    this.#select = select;
    this.#seq = replay.seq;
    const hear = (event: NodeEvent): void => {
      const selected = select(event);
      if (selected !== undefined && allows(event)) this.#deliver(event, selected);
    };
    for (const event of replay.events) hear(event);
    this.#unsubscribe = bus.subscribe({ domain, onDemand }, hear);
  }

  /** Number of the latest delivery; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  get attached(): boolean {
    return this.#sink !== undefined;
  }

  /**
   * Sends all further events to `sink` instead of the former one, after those since number `after`.
   *
   * @returns false when some of these are no longer kept, or never existed: the subscriber has to reload its state
   */
  attach(sink: Sink, after = this.#seq): boolean {
    this.#sink = sink;
    const kept = this.#past.slice(-KEPT);
    const oldest = this.#seq - kept.length + 1;
    kept.forEach((event, index) => {
      const selected = oldest + index > after ? this.#select(event) : undefined;
      if (selected !== undefined) sink({ seq: oldest + index, event: selected });
    });
    return after <= this.#seq && after + 1 >= oldest;
  }

  /** Keeps events until the next attachment; ignored when another sink is attached. */
  detach(sink: Sink): void {
    if (this.#sink === sink) this.#sink = undefined;
  }

  /** Ends the subscription. */
  close(): void {
    this.#sink = undefined;
    this.#unsubscribe();
  }

  #deliver(event: NodeEvent, selected: NodeEvent): void {
    this.#seq += 1;
    this.#past.push(event);
    // In batches: shifting the list for each event would cost more than the event.
    if (this.#past.length >= 2 * KEPT) this.#past = this.#past.slice(-KEPT);
    this.#sink?.({ seq: this.#seq, event: selected });
  }
}
