/** The events of this node on their way into the stream. */
import type { DomainName } from '../../domain-name/index.ts';
import type { NodeEvent } from '../../events/index.ts';
import type { Log } from '../log.ts';
import type { EventStream } from './event-stream.ts';
import { messageOf, toldOf } from './message.ts';

/** Limits of what waits while NATS is away; the oldest are dropped. */
const MAX_WAITING = 10_000;
const MAX_BYTES = 33_554_432;
/** Milliseconds between two sendings: a message costs as much as dozens of events. An event after a pause goes at once. */
const GATHER_MS = 20;
/** Bytes of a message after which no further event joins it. */
const FULL = 262_144;
/** Milliseconds until a message is sent again that nobody acknowledged. */
const RETRY_MS = 250;

interface Lane {
  readonly waiting: string[];
  /** Called when what waits now is on its way. */
  readonly sent: (() => void)[];
  sending: boolean;
}

/**
 * Sends the events of each domain in order: one message at a time, and all that came meanwhile in the next one. So a busy
 * node sends few messages, and a quiet one does not wait.
 */
export class Outgoing {
  readonly #stream: Pick<EventStream, 'publish'>;
  readonly #id: string;
  readonly #log: Log;
  readonly #lanes = new Map<DomainName, Lane>();
  #waiting = 0;
  #bytes = 0;
  #sent = 0;
  #dropped = 0;
  #closed = false;
  #isScheduled = false;
  #flushed = Number.NEGATIVE_INFINITY;
  /** When the first of the messages without an answer was sent; undefined: there is none. */
  #unanswered: number | undefined;

  /** @param id of this process */
  constructor(stream: Pick<EventStream, 'publish'>, id: string, log: Log) {
    this.#stream = stream;
    this.#id = id;
    this.#log = log;
  }

  /** Milliseconds for which NATS has stored nothing, though something waits. */
  get silentMs(): number {
    return this.#unanswered === undefined ? 0 : performance.now() - this.#unanswered;
  }

  add(event: NodeEvent): void {
    this.#put(event.domain, toldOf(event));
  }

  /** Calls back in the turn in which the last event so far goes to NATS: what is sent then goes with it, or not at all. */
  whenSent(callback: () => void): void {
    const lanes = [...this.#lanes.values()].filter(({ waiting }) => waiting.length > 0);
    let left = lanes.length;
    if (left === 0) return callback();
    const sent = (): void => {
      left -= 1;
      if (left === 0) callback();
    };
    for (const lane of lanes) lane.sent.push(sent);
  }

  /** Sends a message without events: it moves the positions of those who follow the domain. */
  mark(domain: DomainName): void {
    if (this.#lanes.has(domain)) return;
    this.#stream.publish(domain, messageOf([]), this.#nextId()).catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
  }

  #put(domain: DomainName, told: string): void {
    const lane = this.#lanes.get(domain) ?? { waiting: [], sent: [], sending: false };
    this.#lanes.set(domain, lane);
    lane.waiting.push(told);
    this.#waiting += 1;
    this.#bytes += told.length;
    while (this.#waiting > MAX_WAITING || this.#bytes > MAX_BYTES) this.#drop();
    if (!lane.sending) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const wait = this.#flushed + GATHER_MS - performance.now();
    if (wait > 0) setTimeout(() => this.#flush(), wait);
    else queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#flushed = performance.now();
    for (const [domain, lane] of this.#lanes)
      if (!lane.sending && lane.waiting.length > 0) void this.#send(domain, lane);
  }

  async #send(domain: DomainName, lane: Lane): Promise<void> {
    lane.sending = true;
    const [text, id] = [messageOf(this.#take(lane)), this.#nextId()];
    let published = this.#publish(domain, text, id);
    if (lane.waiting.length === 0) for (const sent of lane.sent.splice(0)) sent();
    while (!this.#closed && !(await published)) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      published = this.#publish(domain, text, id);
    }
    lane.sending = false;
    if (lane.waiting.length > 0) this.#schedule();
    else this.#lanes.delete(domain);
  }

  async #publish(domain: DomainName, text: string, id: string): Promise<boolean> {
    try {
      await this.#stream.publish(domain, text, id);
    } catch {
      this.#unanswered ??= performance.now();
      return false;
    }
    this.#unanswered = undefined;
    if (this.#dropped > 0)
      this.#log.warn({ events: this.#dropped }, 'events were dropped, as NATS was away or too slow');
    this.#dropped = 0;
    return true;
  }

  #take(lane: Lane): readonly string[] {
    let [bytes, count] = [0, 0];
    for (const told of lane.waiting) {
      if (count > 0 && bytes + told.length > FULL) break;
      count += 1;
      bytes += told.length;
    }
    this.#waiting -= count;
    this.#bytes -= bytes;
    return lane.waiting.splice(0, count);
  }

  /** Drops an event of the domain that has most of them. */
  #drop(): void {
    const [longest] = [...this.#lanes.values()].toSorted((a, b) => b.waiting.length - a.waiting.length);
    const told = longest?.waiting.shift();
    this.#waiting -= 1;
    this.#bytes -= told?.length ?? 0;
    this.#dropped += 1;
  }

  #nextId(): string {
    this.#sent += 1;
    return `${this.#id}.${this.#sent}`;
  }
}
