/** What other nodes need of this node's calls when it dies, kept at NATS. Nobody follows it. */
import { jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import { openBucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';

const BUCKET = { name: 'ringmaster_calls', storage: 'memory' } as const;
const SUBJECT = `$KV.${BUCKET.name}`;
/** Milliseconds in which changes of one call gather for one message. */
const GATHER_MS = 20;
/** Milliseconds before the bucket is tried again. */
const RETRY_MS = 500;

/** `call`: a SharedCall; `ringing`: an INVITE to a phone; `waiting`: one of a caller. The latter two without a final answer. */
export type Kind = 'call' | 'ringing' | 'waiting';

export interface KeptEntry {
  /** Its place among those of its process. */
  readonly slot: string;
  readonly of: unknown;
}

/** What a node kept. */
export type Kept = Readonly<Record<Kind, readonly KeptEntry[]>>;

interface Entry {
  readonly kind: Kind;
  readonly slot: number;
  /** The present value; undefined: it is over. */
  value: (() => unknown) | undefined;
  written: boolean;
}

/**
 * Each entry has a numbered place while it lives, and the next one takes the place over: so the bucket has as many entries as the node
 * had at once. Messages are not acknowledged: after each loss of the connection all of them are sent again.
 */
export class LiveIndex {
  readonly #link: NatsLink;
  readonly #id: string;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  readonly #changed = new Set<string>();
  readonly #free: number[] = [];
  #slots = 0;
  #kv: KV | undefined;
  #timer: NodeJS.Timeout | undefined;
  #told: string | undefined;
  #closed = false;

  /** @param id of this process */
  constructor(link: NatsLink, id: string, log: Log) {
    this.#link = link;
    this.#id = id;
    this.#log = log;
    link.onUp(() => void this.#open());
    link.onDown(() => {
      this.#kv = undefined;
    });
  }

  /** @param value called when it is written, soon */
  set(kind: Kind, id: string, value: () => unknown): void {
    const key = `${kind} ${id}`;
    const known = this.#entries.get(key);
    if (known === undefined) {
      const slot = this.#free.pop() ?? this.#slots++;
      this.#entries.set(key, { kind, slot, value, written: false });
    } else known.value = value;
    this.#change(key);
  }

  remove(kind: Kind, id: string): void {
    const key = `${kind} ${id}`;
    const known = this.#entries.get(key);
    if (known === undefined) return;
    known.value = undefined;
    this.#change(key);
  }

  /**
   * What a process kept last.
   * @throws Error when NATS does not answer
   */
  async read(id: string): Promise<Kept> {
    const kv = this.#kv;
    if (kv === undefined) throw new Error('NATS is away');
    const kept: Record<Kind, KeptEntry[]> = { call: [], ringing: [], waiting: [] };
    for await (const { key, value } of await kv.history({ key: `${id}.*` })) {
      if (value.length === 0) continue;
      const { kind, of } = JSON.parse(Buffer.from(value).toString('utf8')) as { kind: Kind; of: unknown };
      kept[kind].push({ slot: key.slice(id.length + 1), of });
    }
    return kept;
  }

  /** Removes an entry of a dead process, after what this node has to keep instead of it. */
  erase(id: string, slot: string): void {
    clearTimeout(this.#timer);
    this.#write();
    this.#publish(id, slot, '');
  }

  /** Sends all entries again: another node took this one for dead. */
  resend(): void {
    for (const key of this.#entries.keys()) this.#change(key);
  }

  /** Removes what a process kept. Never rejects. */
  async clear(id: string): Promise<void> {
    const { connection } = this.#link;
    if (connection === undefined) return;
    try {
      const manager = await jetstreamManager(connection);
      await manager.streams.purge(`KV_${BUCKET.name}`, { filter: `${SUBJECT}.${id}.*` });
    } catch (err) {
      this.#log.debug({ err }, 'the calls of a node that is gone were not removed from NATS');
    }
  }

  /** The node has ended all calls. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.clear(this.#id);
  }

  #change(key: string): void {
    this.#changed.add(key);
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS).unref();
  }

  #write(): void {
    this.#timer = undefined;
    for (const key of this.#changed) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      const { kind, slot, value } = entry;
      if (value !== undefined || entry.written)
        this.#publish(this.#id, slot, value === undefined ? '' : JSON.stringify({ kind, of: value() }));
      entry.written = true;
      if (value !== undefined) continue;
      this.#entries.delete(key);
      this.#free.push(slot);
    }
    this.#changed.clear();
  }

  #publish(id: string, slot: number | string, text: string): void {
    if (this.#kv !== undefined) this.#link.connection?.publish(`${SUBJECT}.${id}.${slot}`, text);
  }

  /** Opens the bucket after a new connection, and sends all entries again. */
  async #open(): Promise<void> {
    const { connection } = this.#link;
    while (!this.#closed && connection !== undefined && connection === this.#link.connection) {
      try {
        this.#kv = await openBucket(connection, BUCKET);
        this.#told = undefined;
        break;
      } catch (err) {
        const reason = err instanceof Error ? err.message : String(err);
        if (reason !== this.#told) this.#log.warn({ bucket: BUCKET.name, reason }, 'a bucket of NATS cannot be used');
        this.#told = reason;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    if (this.#kv === undefined) return;
    for (const slot of this.#free) this.#publish(this.#id, slot, '');
    this.resend();
  }
}
