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

/** A JSON object. */
export type StoredAnswer = Readonly<Record<string, unknown>>;

export type Once<Answer> = { readonly answer: Answer; readonly replayed: boolean } | Refused;

/**
 * - `other_request`: the key was used for another request
 * - `cut_off`: the first request began and was never answered, because the node ended; its effects are unknown
 */
export type Refused = { readonly refused: 'other_request' | 'cut_off' };

/**
 * Executes a request once, however often it is sent: repeats get the first answer. Answers are stored, so that this
 * also holds after a restart.
 */
export class FirstAnswers {
  readonly #storage: Storage;
  readonly #now: () => number;
  /** Requests in progress on this node. */
  readonly #pending = new Map<string, Promise<Once<StoredAnswer>>>();
  #cleared = 0;

  /** @param now milliseconds since the epoch */
  constructor(storage: Storage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
  }

  /**
   * @param work executed the first time; when it throws, it had no effect and the key is free again
   * @throws errors of `work`
   */
  async once<Answer extends StoredAnswer>(
    { userId, key, request }: RepeatableRequest,
    work: () => Promise<Answer>,
  ): Promise<Once<Answer>> {
    const id = `${userId} ${key}`;
    const fingerprint = createHash('sha256').update(request).digest('hex');
    const before = this.#pending.get(id);
    if (before !== undefined) {
      // Waits for the first request; when that failed, becomes the first one itself.
      await before.catch(() => undefined);
      return this.once({ userId, key, request }, work);
    }
    const mine = this.#first(userId, key, fingerprint, work);
    this.#pending.set(id, mine);
    try {
      return (await mine) as Once<Answer>;
    } finally {
      this.#pending.delete(id);
    }
  }

  async #first(
    userId: string,
    key: string,
    fingerprint: string,
    work: () => Promise<StoredAnswer>,
  ): Promise<Once<StoredAnswer>> {
    const { db } = this.#storage;
    const now = this.#now();
    await this.#clear(now);
    // The key is claimed before any effect.
    const { rows: taken } = await sql`
      insert into first_answers (user_id, key, fingerprint, answer, expires)
      values (${userId}, ${key}, ${fingerprint}, null, ${now + KEEP_MS})
      on conflict (user_id, key) do update set fingerprint = excluded.fingerprint, answer = null, expires = excluded.expires
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

  async #earlier(userId: string, key: string, fingerprint: string): Promise<Once<StoredAnswer>> {
    const { rows } = await sql<{ fingerprint: string; answer: StoredAnswer | null }>`
      select fingerprint, answer from first_answers where user_id = ${userId} and key = ${key}`.execute(
      this.#storage.db,
    );
    const [row] = rows;
    if (row !== undefined && row.fingerprint !== fingerprint) return { refused: 'other_request' };
    if (row === undefined || row.answer === null) return { refused: 'cut_off' };
    return { answer: row.answer, replayed: true };
  }

  async #clear(now: number): Promise<void> {
    if (now - this.#cleared < CLEAR_MS) return;
    this.#cleared = now;
    await sql`delete from first_answers where expires <= ${now}`.execute(this.#storage.db);
  }
}
