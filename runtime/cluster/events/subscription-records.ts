/**
 * Subscriptions in a bucket of NATS: which number of each was at which position of the stream. Another node resumes one by
 * counting the events since then.
 */
import { hash } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Begun, KeptSubscription, SubscriptionName } from '../../events/index.ts';
import { ClusterAwayError } from '../errors.ts';
import { openBucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';

/** As long as the stream keeps events. */
const BUCKET = { name: 'ringmaster_subscriptions', ttlMs: 600_000 } as const;
/** The code of NATS for a write after somebody else's (JetStream, "wrong last sequence"). */
const WRITTEN_BY_ANOTHER = 10_071;

/** The number of the last event that a subscription had at a position of the stream. */
export interface Mark {
  readonly seq: number;
  readonly position: number;
}

export interface SubscriptionRecord extends Begun {
  /** Of the process that has the subscription. */
  readonly owner: string;
  /** Of the stream. */
  readonly epoch: string;
  /** Two at most, the newest last. */
  readonly marks: readonly Mark[];
}

export interface Found {
  readonly record: SubscriptionRecord;
  readonly revision: number;
}

/** An entry as another process left it, and the mark from which its numbers were counted. */
export interface TakenOver {
  readonly revision: number;
  readonly mark: Mark;
}

interface RecordOptions {
  readonly key: string;
  readonly record: Omit<SubscriptionRecord, 'marks'>;
  readonly mark: () => Mark;
  /** Undefined: it is new. */
  readonly before: TakenOver | undefined;
  readonly bucket: () => Promise<KV>;
  /** Another process has the subscription. */
  readonly taken: () => void;
  readonly log: Log;
}

/** The entry of one subscription of this process. */
export class OwnRecord implements KeptSubscription {
  readonly #options: RecordOptions;
  #marks: Mark[] = [];
  #revision: number | undefined;
  #isOver = false;
  #work: Promise<void> = Promise.resolve();
  #isQueued = false;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#revision = options.before?.revision;
    if (options.before !== undefined) this.#marks = [options.before.mark];
    this.mark();
  }

  /** Notes the present number and position. */
  mark(): void {
    this.#marks = [...this.#marks.slice(-1), this.#options.mark()];
    this.#write();
  }

  changed(): void {
    this.#marks = [];
    this.mark();
  }

  end(): void {
    this.#isOver = true;
    const { bucket, key } = this.#options;
    this.#work = this.#work
      .then(async () => {
        if (this.#revision !== undefined) await (await bucket()).delete(key, { previousSeq: this.#revision });
      })
      .catch(() => undefined);
  }

  leave(): void {
    this.#isOver = true;
  }

  /** One write at a time; the next one has what changed meanwhile. */
  #write(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#work = this.#work
      .then(() => {
        this.#isQueued = false;
        return this.#isOver ? undefined : this.#put();
      })
      .catch((err: unknown) => this.#options.log.debug({ err }, 'a subscription was not kept for other nodes'));
  }

  async #put(): Promise<void> {
    const { bucket, key, record, taken } = this.#options;
    const kv = await bucket();
    const text = JSON.stringify({ ...record, marks: this.#marks } satisfies SubscriptionRecord);
    try {
      this.#revision =
        this.#revision === undefined ? await kv.put(key, text) : await kv.update(key, text, this.#revision);
    } catch (error) {
      if ((error as { readonly code?: number }).code !== WRITTEN_BY_ANOTHER) throw error;
      const entry = await kv.get(key);
      const isOwn = entry?.operation === 'PUT' && entry.json<SubscriptionRecord>().owner === record.owner;
      if (entry !== null && !isOwn) {
        this.#isOver = true;
        return taken();
      }
      // An earlier write whose answer was lost, or the entry was too old.
      this.#revision = entry?.revision;
    }
  }
}

export class SubscriptionRecords {
  readonly #link: NatsLink;
  readonly #log: Log;
  #open: { readonly connection: NatsConnection; readonly bucket: Promise<KV> } | undefined;

  constructor(link: NatsLink, log: Log) {
    this.#link = link;
    this.#log = log;
    // NATS may have started anew, without the bucket.
    link.onUp(() => {
      this.#open = undefined;
    });
  }

  async find(name: SubscriptionName): Promise<Found | undefined> {
    const entry = await (await this.#bucket()).get(keyOf(name));
    if (entry === null || entry.operation !== 'PUT') return undefined;
    return { record: entry.json<SubscriptionRecord>(), revision: entry.revision };
  }

  /** @param options of the new entry */
  keep(name: SubscriptionName, options: Pick<RecordOptions, 'record' | 'mark' | 'before' | 'taken'>): OwnRecord {
    return new OwnRecord({ ...options, key: keyOf(name), bucket: () => this.#bucket(), log: this.#log });
  }

  #bucket(): Promise<KV> {
    const { connection } = this.#link;
    if (connection === undefined) return Promise.reject(new ClusterAwayError());
    if (this.#open?.connection !== connection) {
      const bucket = openBucket(connection, BUCKET);
      bucket.catch(() => {
        this.#open = undefined;
      });
      this.#open = { connection, bucket };
    }
    return this.#open.bucket;
  }
}

function keyOf({ userId, domain, id }: SubscriptionName): string {
  return hash('sha256', `${userId} ${domain} ${id}`, 'base64url');
}
