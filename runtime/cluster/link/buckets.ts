/** Buckets of NATS JetStream, and what they hold now. */
import { type KV, Kvm } from '@nats-io/kv';
import { jetstream, JetStreamApiError, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '../log.ts';
import { COPIES } from './copies.ts';
import type { NatsLink } from './nats-link.ts';
import { type Watch, watch } from './watch.ts';

export interface BucketOptions {
  readonly name: string;
  /** Milliseconds after which an entry goes that nobody wrote again; absent: it stays. */
  readonly ttlMs?: number;
}

/** Milliseconds before a bucket is tried again. */
const RETRY_MS = 500;
/** Milliseconds for an answer of NATS. */
const ANSWER_MS = 2000;

/** Opens a bucket; it is made where it is missing. @throws errors of NATS */
export async function openBucket(connection: NatsConnection, { name, ttlMs = 0 }: BucketOptions): Promise<KV> {
  const kvm = new Kvm(jetstream(connection, { timeout: ANSWER_MS }));
  const make = (replicas: number): Promise<KV> =>
    // NATS 2.15 elects nobody for what is in memory until all servers are there, once most of them were gone.
    kvm.create(name, { replicas, history: 1, ttl: ttlMs, storage: StorageType.File });
  try {
    return await make(COPIES);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    // A single server, or a cluster of fewer, keeps one copy; `Copies` makes the others later.
    return await make(1);
  }
}

export interface BucketListener {
  /** Entries of the bucket: all at each connection, then every change. */
  entry(key: string, value: Uint8Array | undefined): void;
  /** All entries that the bucket had at the connection have been told. */
  complete?(bucket: KV): void;
}

/** Follows a bucket from connection to connection. */
export class Bucket {
  readonly #link: NatsLink;
  readonly #options: BucketOptions;
  readonly #listener: BucketListener;
  readonly #log: Log;
  #kv: KV | undefined;
  #watched: Watch | undefined;
  #told: string | undefined;
  /** Counts connections; an older one's work is given up. */
  #epoch = 0;
  #closed = false;

  constructor(link: NatsLink, options: BucketOptions, listener: BucketListener, log: Log) {
    this.#link = link;
    this.#options = options;
    this.#listener = listener;
    this.#log = log;
    link.onUp(() => {
      this.#leave();
      void this.#follow(this.#epoch);
    });
    link.onDown(() => this.#leave());
  }

  /** The bucket, while it can be used. */
  get kv(): KV | undefined {
    return this.#kv;
  }

  close(): void {
    this.#closed = true;
    this.#leave();
  }

  #leave(): void {
    this.#epoch += 1;
    this.#kv = undefined;
    this.#watched?.stop();
    this.#watched = undefined;
  }

  async #follow(epoch: number): Promise<void> {
    const isOver = (): boolean => this.#closed || epoch !== this.#epoch;
    while (!isOver()) {
      const { connection } = this.#link;
      if (connection === undefined) return;
      try {
        const kv = await openBucket(connection, this.#options);
        if (isOver()) return;
        this.#kv = kv;
        const watched = await watch(connection, this.#options.name, ANSWER_MS, {
          entry: (key, value) => {
            if (!isOver()) this.#listener.entry(key, value);
          },
          complete: () => {
            if (!isOver()) this.#listener.complete?.(kv);
          },
        });
        if (isOver()) return watched.stop();
        this.#watched = watched;
        this.#told = undefined;
        await watched.over;
        if (isOver()) return;
        this.#log.info({ bucket: this.#options.name }, 'NATS no longer tells the changes of a bucket: it is read anew');
        this.#link.again();
        return;
      } catch (err) {
        if (isOver()) return;
        const reason = err instanceof Error ? err.message : String(err);
        // Each reason once, not at every attempt.
        if (reason !== this.#told)
          this.#log.warn({ bucket: this.#options.name, reason }, 'a bucket of NATS cannot be used');
        this.#told = reason;
      }
      if (isOver()) return;
      this.#kv = undefined;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }
}
