/** What other nodes need of this node's calls when it dies, kept at NATS. Nobody follows it. */
import { jetstream, type JetStreamClient, jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import { openBucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';

const BUCKET = { name: 'ringmaster_calls' } as const;
const STREAM = `KV_${BUCKET.name}`;
const SUBJECT = `$KV.${BUCKET.name}`;
/** Entries that are asked for at once. */
const READ_AT_ONCE = 100;
/** Milliseconds in which changes of one call gather for one message. */
const GATHER_MS = 20;
/** Milliseconds before the bucket is tried again. */
const RETRY_MS = 500;
/** Milliseconds for NATS to say that it has stored a message. */
const STORED_MS = 2000;

/** `call`: a SharedCall; `farewell`: a SharedFarewell; `ringing`: an INVITE to a phone; `waiting`: one of a caller. The latter two without a final answer. */
export type Kind = 'call' | 'farewell' | 'ringing' | 'waiting';

export interface KeptEntry {
  /** Its place among those of its process. */
  readonly slot: string;
  readonly of: unknown;
}

/** What a node kept. */
export type Kept = Readonly<Record<Kind, readonly KeptEntry[]>>;

interface Message {
  readonly slot: number;
  readonly text: string;
}

interface Entry {
  readonly kind: Kind;
  readonly slot: number;
  /** The present value; undefined: it is over. */
  value: (() => unknown) | undefined;
  written: boolean;
}

/**
 * Each entry has a numbered place while it lives, and the next one takes the place over: so the bucket has as many entries as the node
 * had at once. Of the messages of one turn the last one is acknowledged. When that fails, as while the servers of NATS choose who of them
 * stores, and after each loss of the connection, all entries are sent again.
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
  #js: JetStreamClient | undefined;
  #again: NodeJS.Timeout | undefined;
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
      this.#kv = this.#js = undefined;
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

  /** Ids of the present entries of a kind. */
  ids(kind: Kind): readonly string[] {
    const live = [...this.#entries].filter(([, entry]) => entry.kind === kind && entry.value !== undefined);
    return live.map(([key]) => key.slice(kind.length + 1));
  }

  /**
   * What a process kept last. The server that stores the bucket is asked alone: a consumer reads the copy of any one, which has calls that
   * are over for seconds after that server has started.
   * @throws Error when NATS does not answer
   */
  async read(id: string): Promise<Kept> {
    const { connection } = this.#link;
    if (connection === undefined) throw new Error('NATS is away');
    const { streams } = await jetstreamManager(connection, { timeout: STORED_MS });
    const place = `${SUBJECT}.${id}.`;
    const { state } = await streams.info(STREAM, { subjects_filter: `${place}*` });
    const subjects = Object.keys(state.subjects ?? {});
    const kept: Record<Kind, KeptEntry[]> = { call: [], farewell: [], ringing: [], waiting: [] };
    for (let at = 0; at < subjects.length; at += READ_AT_ONCE) {
      const asked = subjects.slice(at, at + READ_AT_ONCE);
      const stored = await Promise.all(asked.map((subject) => streams.getMessage(STREAM, { last_by_subj: subject })));
      for (const message of stored) {
        if (message === null || message.data.length === 0) continue;
        const { kind, of } = message.json<{ kind: Kind; of: unknown }>();
        kept[kind].push({ slot: message.subject.slice(place.length), of });
      }
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
      await manager.streams.purge(STREAM, { filter: `${SUBJECT}.${id}.*` });
    } catch (err) {
      this.#log.debug({ err }, 'the calls of a node that is gone were not removed from NATS');
    }
  }

  /** The node has ended all calls. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    await this.clear(this.#id);
  }

  #change(key: string): void {
    this.#changed.add(key);
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS).unref();
  }

  #write(): void {
    this.#timer = undefined;
    const messages: Message[] = [];
    for (const key of this.#changed) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      const { kind, slot, value } = entry;
      if (value !== undefined || entry.written)
        messages.push({ slot, text: value === undefined ? '' : JSON.stringify({ kind, of: value() }) });
      entry.written = true;
      if (value !== undefined) continue;
      this.#entries.delete(key);
      this.#free.push(slot);
    }
    this.#changed.clear();
    this.#send(messages);
  }

  #send(messages: readonly Message[]): void {
    const [js, last] = [this.#js, messages.at(-1)];
    if (js === undefined || last === undefined) return;
    for (const { slot, text } of messages.slice(0, -1)) this.#publish(this.#id, slot, text);
    js.publish(subjectOf(this.#id, last.slot), last.text, { timeout: STORED_MS }).catch(() => {
      this.#again ??= setTimeout(() => this.#sendAll(), RETRY_MS).unref();
    });
  }

  #sendAll(): void {
    this.#again = undefined;
    this.#send(this.#free.map((slot) => ({ slot, text: '' })));
    this.resend();
  }

  #publish(id: string, slot: number | string, text: string): void {
    if (this.#kv !== undefined) this.#link.connection?.publish(subjectOf(id, slot), text);
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
    if (this.#kv === undefined || connection === undefined) return;
    this.#js = jetstream(connection);
    this.#sendAll();
  }
}

function subjectOf(id: string, slot: number | string): string {
  return `${SUBJECT}.${id}.${slot}`;
}
