/** Follows the events of one domain in the stream. */
import type { DomainName } from '../../domain-name/index.ts';
import type { NodeEvent } from '../../events/index.ts';
import type { EventStream, Reading, StreamState } from './event-stream.ts';
import { eventsOf } from './message.ts';

/** Milliseconds until the stream is tried again. */
const RETRY_MS = 250;

export interface FollowerListener {
  /** Events of one message; may be none. The position is that message's by now. */
  heard(events: readonly NodeEvent[]): void;
  /** Messages are gone that it did not read. */
  lost(): void;
}

export class Follower {
  readonly #domain: DomainName;
  readonly #stream: EventStream;
  readonly #epoch: string;
  readonly #listener: FollowerListener;
  readonly #opened = Promise.withResolvers<void>();
  #reading: Reading | undefined;
  #position: number | undefined;
  #heard = performance.now();
  /** Counts attempts to read; an older one's messages are ignored. */
  #attempt = 0;

  /** @param epoch of the stream */
  constructor(domain: DomainName, stream: EventStream, epoch: string, listener: FollowerListener) {
    this.#domain = domain;
    this.#stream = stream;
    this.#epoch = epoch;
    this.#listener = listener;
    void this.reopen();
  }

  /** Resolves when every further event comes, or when the follower is closed. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Number of the last message in the stream that it has read. */
  get position(): number {
    return this.#position ?? 0;
  }

  /** Milliseconds since the last message. */
  get quietMs(): number {
    return performance.now() - this.#heard;
  }

  /** Goes on after the last position: NATS is back. */
  async reopen(): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#reading?.stop();
    this.#reading = undefined;
    while (attempt === this.#attempt) {
      try {
        const state = await this.#stream.open();
        if (attempt !== this.#attempt) return;
        if (this.#isCutOff(state)) return this.#listener.lost();
        this.#position ??= state.last;
        const reading = await this.#stream.read(this.#domain, this.#position + 1, (position, text) => {
          if (attempt === this.#attempt) this.#hear(position, text);
        });
        if (attempt !== this.#attempt) return reading.stop();
        this.#reading = reading;
        void reading.over.then(() => {
          if (attempt === this.#attempt) void this.reopen();
        });
        return this.#opened.resolve();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  close(): void {
    this.#attempt += 1;
    this.#reading?.stop();
    this.#opened.resolve();
  }

  #isCutOff({ epoch, first }: StreamState): boolean {
    return epoch !== this.#epoch || (this.#position !== undefined && this.#position + 1 < first);
  }

  #hear(position: number, text: string): void {
    // A server of NATS that has just come back may begin before the place that it was asked for.
    if (this.#position !== undefined && position <= this.#position) return;
    this.#position = position;
    this.#heard = performance.now();
    this.#listener.heard(eventsOf(this.#domain, position, text));
  }
}
