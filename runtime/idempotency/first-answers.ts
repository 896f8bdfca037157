/** Idempotent requests by Idempotency-Key. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Storage } from '../storage/index.ts';

/** Milliseconds for which a first answer is kept. */
export const KEEP_MS = 24 * 3_600_000;
/** Milliseconds between removals of expired answers. */
const CLEAR_MS = 600_000;

/** A request that may be repeated. */
export interface RepeatableRequest {
  readonly userId: string;
  /** Chosen by the client. */
  readonly key: string;
  /** Text that is equal for equal requests. */
  readonly request: string;
}

/** The nodes of a cluster, where the first request may be in progress at another one. */
export interface FirstRequests {
  /** Of this process, as it stands beside a key in the database. */
  readonly self: string;
  /** Lets other nodes wait. @param settled resolves when the request with this id is over, or unknown */
  answer(settled: (id: string) => Promise<void>): void;
  /** Waits until another node does not work at the request any more, or is gone. */
  settled(owner: string, id: string): Promise<void>;
}

/** A JSON object. */
export type StoredAnswer = Readonly<Record<string, unknown>>;

export type Once<Answer> = { readonly answer: Answer; readonly replayed: boolean } | Refused;

/**
 * - `other_request`: the key was used for another request
 * - `cut_off`: the first request began and was never answered, because the node ended; its effects are unknown
 */
export type Refused = { readonly refused: 'other_request' | 'cut_off' };

/** The first request, or what is known of it; `elsewhere`: the node that may still work at it. */
type First = Once<StoredAnswer> | { readonly elsewhere: string };

/**
 * Executes a request once, however often it is sent: repeats get the first answer. Answers are stored, so that this
 * also holds after a restart.
 */
export class FirstAnswers {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #cluster: FirstRequests | undefined;
  /** Requests in progress on this node. */
  readonly #pending = new Map<string, Promise<First>>();
  #cleared = 0;

  /** @param now milliseconds since the epoch @param cluster absent: a single node */
  constructor(storage: Storage, now: () => number = Date.now, cluster?: FirstRequests) {
    this.#storage = storage;
    this.#now = now;
    this.#cluster = cluster;
    cluster?.answer(async (id) => {
      await this.#pending.get(id)?.catch(() => undefined);
    });
  }

  /**
   * @param work executed the first time; when it throws, it had no effect and the key is free again
   * @throws errors of `work`
   */
  async once<Answer extends StoredAnswer>(
    repeatable: RepeatableRequest,
    work: () => Promise<Answer>,
  ): Promise<Once<Answer>> {
    return (await this.#once(repeatable, work)) as Once<Answer>;
  }

  /** @param waitedFor the node that was waited for, and does not work at the request any more */
  async #once(
    { userId, key, request }: RepeatableRequest,
    work: () => Promise<StoredAnswer>,
    waitedFor?: string,
  ): Promise<Once<StoredAnswer>> {
    const id = `${userId} ${key}`;
    const fingerprint = createHash('sha256').update(request).digest('hex');
    const before = this.#pending.get(id);
    if (before !== undefined) {
      // Waits for the first request; when that failed, becomes the first one itself.
      await before.catch(() => undefined);
      return this.#once({ userId, key, request }, work, waitedFor);
    }
    const mine = this.#first(userId, key, fingerprint, work);
    this.#pending.set(id, mine);
    let outcome: First;
    try {
      outcome = await mine;
    } finally {
      this.#pending.delete(id);
    }
    if (!('elsewhere' in outcome)) return outcome;
    const { elsewhere } = outcome;
    // It could not even store that it failed.
    if (elsewhere === waitedFor) return { refused: 'cut_off' };
    await this.#cluster?.settled(elsewhere, id);
    // It may have answered just before its end.
    return await this.#once({ userId, key, request }, work, elsewhere);
  }

  async #first(userId: string, key: string, fingerprint: string, work: () => Promise<StoredAnswer>): Promise<First> {
    const { db } = this.#storage;
    const now = this.#now();
    await this.#clear(now);
    // The key is claimed before any effect.
    const { rows: taken } = await sql`
      insert into first_answers (user_id, key, fingerprint, answer, expires, node)
      values (${userId}, ${key}, ${fingerprint}, null, ${now + KEEP_MS}, ${this.#cluster?.self ?? null})
      on conflict (user_id, key) do update set fingerprint = excluded.fingerprint, answer = null,
        expires = excluded.expires, node = excluded.node
        where first_answers.expires <= ${now}
      returning key`.execute(db);
    if (taken.length === 0) return this.#earlier(userId, key, fingerprint);
    try {
      const answer = await work();
      await sql`
        update first_answers set answer = ${JSON.stringify(answer)}::jsonb
        where user_id = ${userId} and key = ${key}`.execute(db);
      return { answer, replayed: false };
    } catch (error) {
      await sql`delete from first_answers where user_id = ${userId} and key = ${key} and answer is null`.execute(db);
      throw error;
    }
  }

  async #earlier(userId: string, key: string, fingerprint: string): Promise<First> {
    const { rows } = await sql<{ fingerprint: string; answer: StoredAnswer | null; node: string | null }>`
      select fingerprint, answer, node from first_answers where user_id = ${userId} and key = ${key}`.execute(
      this.#storage.db,
    );
    const [row] = rows;
    if (row !== undefined && row.fingerprint !== fingerprint) return { refused: 'other_request' };
    if (row !== undefined && row.answer !== null) return { answer: row.answer, replayed: true };
    const node = row?.node ?? null;
    if (this.#cluster === undefined || node === null || node === this.#cluster.self) return { refused: 'cut_off' };
    return { elsewhere: node };
  }

  async #clear(now: number): Promise<void> {
    if (now - this.#cleared < CLEAR_MS) return;
    this.#cleared = now;
    await sql`delete from first_answers where expires <= ${now}`.execute(this.#storage.db);
  }
}
