/** Deliveries on their way into the database. While it is away they wait in memory. */
import { StorageTimeoutError, StorageUnavailableError } from '../storage/index.ts';
import type { DeliveryQueue, NewDelivery } from './queue.ts';

/** Deliveries a statement. */
const SET = 200;
/** Limits of what waits while the database is away. */
const MAX_COUNT = 10_000;
const MAX_BYTES = 33_554_432;
/** Milliseconds between two attempts while the database is away. */
const RETRY_MS = 2_000;
/** Milliseconds that a stopping node waits for the database. */
const CLOSE_MS = 2_000;

export interface OutboxObserver {
  /** These webhooks have new deliveries in the database. */
  queued(webhookIds: ReadonlySet<string>): void;
  dropped(delivery: NewDelivery, reason: string): void;
  failed(err: unknown, count: number): void;
}

export class Outbox {
  readonly #queue: Pick<DeliveryQueue, 'add'>;
  readonly #observer: OutboxObserver;
  #waiting: NewDelivery[] = [];
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #retry: PromiseWithResolvers<void> | undefined;
  readonly #retryMs: number;
  #closed = false;

  /** @param retryMs milliseconds between two attempts while the database is away */
  constructor(queue: Pick<DeliveryQueue, 'add'>, observer: OutboxObserver, retryMs = RETRY_MS) {
    this.#queue = queue;
    this.#observer = observer;
    this.#retryMs = retryMs;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(delivery: NewDelivery): void {
    if (this.#waiting.length >= MAX_COUNT || this.#bytes + delivery.body.length > MAX_BYTES) {
      this.#observer.dropped(delivery, 'too many wait for the database');
      return;
    }
    this.#waiting.push(delivery);
    this.#bytes += delivery.body.length;
    // Events of one turn of the event loop share a statement.
    this.#writing ??= Promise.resolve()
      .then(() => this.#writeAll())
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Writes what waits, for up to two seconds. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
    this.#closed = true;
    this.#retry?.resolve();
    for (const delivery of this.#waiting) this.#observer.dropped(delivery, 'the node ended without the database');
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closed) {
      const set = this.#waiting.slice(0, SET);
      if (await this.#write(set)) this.#take(set);
      else await this.#pause();
    }
  }

  /** @returns false when the database is away */
  async #write(set: readonly NewDelivery[]): Promise<boolean> {
    try {
      // The ids make a repeat harmless whose first attempt was stored without an answer.
      const stored = await this.#queue.add(set);
      for (const delivery of set)
        if (!stored.has(delivery.id)) this.#observer.dropped(delivery, 'too many of this webhook wait');
      this.#observer.queued(new Set(set.map(({ webhookId }) => webhookId)));
      return true;
    } catch (err) {
      if (err instanceof StorageUnavailableError || err instanceof StorageTimeoutError) return false;
      // A webhook may have been removed between two parts of the statement: the next set is free of it.
      if (set.length > 1) {
        for (const delivery of set) await this.#write([delivery]);
        return true;
      }
      for (const delivery of set) this.#observer.dropped(delivery, 'it could not be stored');
      this.#observer.failed(err, set.length);
      return true;
    }
  }

  #take(set: readonly NewDelivery[]): void {
    this.#waiting = this.#waiting.slice(set.length);
    for (const { body } of set) this.#bytes -= body.length;
  }

  async #pause(): Promise<void> {
    const retry = Promise.withResolvers<void>();
    this.#retry = retry;
    const timer = setTimeout(retry.resolve, this.#retryMs);
    await retry.promise;
    clearTimeout(timer);
  }
}
