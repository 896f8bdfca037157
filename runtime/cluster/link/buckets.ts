/** Buckets of NATS JetStream, and what they hold now. */
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import { StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '../log.ts';
import type { NatsLink } from './nats-link.ts';

export interface BucketOptions {
  readonly name: string;
  /** Milliseconds after which an entry goes that nobody wrote again; absent: it stays. */
  readonly ttlMs?: number;
  readonly storage: 'file' | 'memory';
}

/** Copies in a NATS cluster; a single server keeps one. */
const REPLICAS = 3;
/** Milliseconds before a bucket is tried again. */
const RETRY_MS = 500;

/** Opens a bucket; it is made where it is missing. @throws errors of NATS */
export async function openBucket(connection: NatsConnection, { name, ttlMs = 0, storage }: BucketOptions): Promise<KV> {
  const kvm = new Kvm(connection);
  const make = (replicas: number): Promise<KV> =>
    kvm.create(name, {
      replicas,
      history: 1,
      ttl: ttlMs,
      storage: storage === 'file' ? StorageType.File : StorageType.Memory,
    });
  try {
    return await make(REPLICAS);
  } catch {
    // A single server, or a cluster of fewer: it keeps one copy.
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
  #watched: { stop(): void } | undefined;
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
      this.#epoch += 1;
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
        const { watched, isEmpty } = await watch(kv);
        if (isOver()) return watched.stop();
        this.#kv = kv;
        this.#watched = watched;
        this.#told = undefined;
        let isComplete = isEmpty;
        if (isEmpty) this.#listener.complete?.(kv);
        for await (const entry of watched) {
          if (isOver()) return;
          this.#listener.entry(entry.key, entry.operation === 'PUT' ? entry.value : undefined);
          // `delta` is the number of entries that follow.
          if (isComplete || (entry.delta ?? 0) > 0) continue;
          isComplete = true;
          this.#listener.complete?.(kv);
        }
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

async function watch(
  kv: KV,
): Promise<{ readonly watched: AsyncIterable<KvEntry> & { stop(): void }; readonly isEmpty: boolean }> {
  const watched = await kv.watch();
  const { values } = await kv.status();
  return { watched, isEmpty: values === 0 };
}
