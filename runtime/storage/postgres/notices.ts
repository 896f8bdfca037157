/**
 * Change notices over LISTEN and NOTIFY (PostgreSQL manual, "NOTIFY"). NOTIFY limits a payload to 8000 bytes: a longer
 * one is stored in a table, and its number is sent.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { Client, type Notification } from 'pg';
import type { ChangeNotices, NoticeListener, NoticePayload } from '../notices.ts';
import type { Schema } from '../schema.ts';
import type { StorageLog } from '../storage.ts';

const CHANNEL = 'ringmaster_changes';
/** Advisory lock shared by all running nodes on the database. */
const PRESENCE_LOCK = 727_464_001;
/** Topic announcing a new node. It has no subscribers, but shows every node that there are others. */
const HELLO = 'hello';
const COUNT_NODES = `select count(*)::integer as nodes from pg_locks
  where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())`;
const MAX_BYTES = 7_000;
const KEPT_MS = 600_000;
/** Interval of the connection check, and its time limit. */
const CHECK_MS = 15_000;
const CHECK_LIMIT_MS = 10_000;
const CONNECT_LIMIT_MS = 10_000;
const LONGEST_PAUSE_MS = 5_000;

/** `n`: sender, `t`: topic, `p`: payload, or `r`: its row, `m`: the sender's mark. */
interface Message {
  readonly n: string;
  readonly t: string;
  readonly p?: NoticePayload;
  readonly r?: number;
  readonly m?: number;
}

export interface NoticesOptions {
  readonly databaseUrl: string;
  readonly db: Kysely<Schema>;
  readonly log: StorageLog;
}

export class PostgresNotices implements ChangeNotices {
  readonly #options: NoticesOptions;
  readonly #node = randomUUID();
  readonly #listeners = new Map<string, Set<NoticeListener>>();
  #client: Client | undefined;
  #wasAlone = false;
  #hasOthers = false;
  /** Settles after the last received notice. */
  #last: Promise<void> = Promise.resolve();
  #reconnecting: Promise<void> | undefined;
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #pruned = 0;

  private constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Resolves when it listens: later reads are never older than the first notice. */
  static async open(options: NoticesOptions): Promise<PostgresNotices> {
    const notices = new PostgresNotices(options);
    await notices.#connect(true);
    notices.#hasOthers = !notices.#wasAlone;
    if (notices.#hasOthers) await notices.publish(HELLO, null);
    notices.#timer = setInterval(() => void notices.#check(), CHECK_MS);
    notices.#timer.unref();
    return notices;
  }

  get wasAlone(): boolean {
    return this.#wasAlone;
  }

  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  async publish(
    topic: string,
    payload: NoticePayload,
    db: Kysely<Schema> = this.#options.db,
    mark?: number,
  ): Promise<void> {
    const base = { n: this.#node, t: topic, ...(mark !== undefined && { m: mark }) };
    let text = JSON.stringify({ ...base, p: payload } satisfies Message);
    if (Buffer.byteLength(text) > MAX_BYTES) {
      text = JSON.stringify({ ...base, r: await this.#keep(payload, db) } satisfies Message);
    }
    await sql`select pg_notify(${CHANNEL}, ${text})`.execute(db);
  }

  subscribe(topic: string, listener: NoticeListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    clearInterval(this.#timer);
    await this.#reconnecting;
    await this.#client?.end();
    await this.#last;
  }

  async #keep(payload: NoticePayload, db: Kysely<Schema>): Promise<number> {
    const now = Date.now();
    if (now - this.#pruned > KEPT_MS) {
      this.#pruned = now;
      await sql`delete from change_notices where published < ${now - KEPT_MS}`.execute(this.#options.db);
    }
    const { rows } = await sql<{ id: number }>`
      insert into change_notices (published, payload) values (${now}, ${JSON.stringify(payload)}) returning id`.execute(
      db,
    );
    return rows[0]?.id ?? 0;
  }

  async #connect(first: boolean): Promise<void> {
    const { databaseUrl, log } = this.#options;
    const client = new Client({
      connectionString: databaseUrl,
      application_name: 'ringmaster notices',
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
    });
    client.on('error', (error) => log.warn({ err: error }, 'the connection for change notices failed'));
    client.on('notification', (notification) => this.#arrived(notification));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      if (first) this.#wasAlone = await isAlone(client);
      else await client.query('select pg_advisory_lock_shared($1)', [PRESENCE_LOCK]);
    } catch (error) {
      await client.end();
      throw error;
    }
    client.on('end', () => this.#lost(client));
    this.#client = client;
  }

  #lost(client: Client): void {
    if (this.#client !== client || this.#closed.signal.aborted) return;
    this.#client = undefined;
    this.#reconnecting = this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { log } = this.#options;
    for (let pause = 100; !this.#closed.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.#connect(false);
        break;
      } catch (error) {
        log.warn({ err: error }, 'change notices of other nodes are not received; trying again');
        await delay(pause, undefined, { signal: this.#closed.signal, ref: false }).catch(() => undefined);
      }
    }
    if (this.#closed.signal.aborted) return;
    log.info({}, 'change notices of other nodes are received again');
    for (const topic of this.#listeners.keys()) this.#queue(topic, (listener) => listener.gap());
  }

  /** Detects a silently cut connection, which looks like an idle one. */
  async #check(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    const timer = setTimeout(() => this.#cut(client), CHECK_LIMIT_MS);
    try {
      const { rows } = await client.query<{ nodes: number }>(COUNT_NODES, [PRESENCE_LOCK]);
      this.#hasOthers = (rows[0]?.nodes ?? 1) > 1;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the connection for change notices does not answer');
      this.#cut(client);
    } finally {
      clearTimeout(timer);
    }
  }

  #cut(client: Client): void {
    this.#lost(client);
    // The lost connection may never answer; the new one does not wait for it.
    client.end().catch((error: unknown) => this.#options.log.debug({ err: error }, 'closing a lost connection'));
  }

  #arrived({ payload = '' }: Notification): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only nodes write to the channel
    const message = JSON.parse(payload) as Message;
    const isOwn = message.n === this.#node;
    const { m: mark } = message;
    if (isOwn && mark === undefined) return;
    if (!isOwn) this.#hasOthers = true;
    this.#queue(message.t, async (listener) => {
      if (isOwn && mark !== undefined && listener.own?.(mark) === true) return;
      await listener.notice(await this.#payloadOf(message));
    });
  }

  async #payloadOf({ p, r }: Message): Promise<NoticePayload> {
    if (r === undefined) return p ?? null;
    const { rows } = await sql<{ payload: string }>`
      select payload from change_notices where id = ${r}`.execute(this.#options.db);
    const [row] = rows;
    if (row === undefined) throw new Error(`The change notice ${r} is no longer stored.`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by publish
    return JSON.parse(row.payload) as NoticePayload;
  }

  #queue(topic: string, call: (listener: NoticeListener) => void | Promise<void>): void {
    this.#last = this.#last.then(async () => {
      for (const listener of this.#listeners.get(topic) ?? []) await this.#tell(topic, listener, call);
    });
  }

  async #tell(
    topic: string,
    listener: NoticeListener,
    call: (listener: NoticeListener) => void | Promise<void>,
  ): Promise<void> {
    try {
      await call(listener);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#options.log.error({ err: error, topic }, 'a change notice could not be applied; reloading everything');
      await this.#readAnew(topic, listener);
    }
  }

  async #readAnew(topic: string, listener: NoticeListener): Promise<void> {
    try {
      await listener.gap();
    } catch (error) {
      this.#options.log.error({ err: error, topic }, 'reloading failed; changes of other nodes may be missing');
    }
  }
}

/** Acquires the shared presence lock. True when no other node held it. */
async function isAlone(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [PRESENCE_LOCK]);
  await client.query('select pg_advisory_lock_shared($1)', [PRESENCE_LOCK]);
  if (rows[0]?.alone !== true) return false;
  await client.query('select pg_advisory_unlock($1)', [PRESENCE_LOCK]);
  return true;
}
