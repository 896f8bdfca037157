/** What one subscriber gets of the bus: numbered without gaps, kept for a while, so that a lost connection resumes. */
import type { EventBus, NodeEvent } from './event-bus.ts';

/** An event as a subscriber gets it. */
export interface Delivery {
  /** Counts without gaps within the subscription, from 1. */
  readonly seq: number;
  readonly event: NodeEvent;
}

/** Takes deliveries; it must not throw. */
export type Sink = (delivery: Delivery) => void;

/** Deliveries kept for a subscriber that comes back. */
const KEPT = 1_000;

/** What a subscriber sees of the bus. */
export interface Sight {
  /** The event as this subscriber is to see it; undefined: not at all. The same event always looks the same. */
  readonly select: (event: NodeEvent) => NodeEvent | undefined;
  /** Whether it may be told, as things are now. */
  readonly allows: (event: NodeEvent) => boolean;
}

export class Subscription {
  readonly id: string;
  readonly #unsubscribe: () => void;
  readonly #select: Sight['select'];
  /** The latest, as all subscribers share them; the last of them has the number `seq`. */
  #past: NodeEvent[] = [];
  #seq = 0;
  #sink: Sink | undefined;

  constructor(id: string, bus: EventBus, domain: string, { select, allows }: Sight) {
    this.id = id;
    this.#select = select;
    this.#unsubscribe = bus.subscribe({ domain }, (event) => {
      const selected = select(event);
      if (selected !== undefined && allows(event)) this.#deliver(event, selected);
    });
  }

  /** Number of the latest delivery; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  get attached(): boolean {
    return this.#sink !== undefined;
  }

  /**
   * Sends everything from now on to `sink`, instead of the one before; first what came after number `after`.
   *
   * @returns false when some of that is no longer kept, or never was: the subscriber has to read the state anew
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

  /** Keeps what comes until somebody attaches; nothing happens when `sink` is not the one attached. */
  detach(sink: Sink): void {
    if (this.#sink === sink) this.#sink = undefined;
  }

  /** Ends it. */
  close(): void {
    this.#sink = undefined;
    this.#unsubscribe();
  }

  #deliver(event: NodeEvent, selected: NodeEvent): void {
    this.#seq += 1;
    this.#past.push(event);
    // Seldom: to move them up for each event would cost more than the event.
    if (this.#past.length >= 2 * KEPT) this.#past = this.#past.slice(-KEPT);
    this.#sink?.({ seq: this.#seq, event: selected });
  }
}
