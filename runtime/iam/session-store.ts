/** Sessions: in the table by the hash of their secret, in memory for the hot path. */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Storage } from '../storage/index.ts';
import type { Session } from './iam.ts';

/** A session lives this long after its last use. */
export const SESSION_TTL_MS = 24 * 3_600_000;
/** Use moves the expiry in such steps, so that a busy session costs one write per step. */
const RENEW_STEP_MS = 10 * 60_000;
/** An ended session is told from one that never was for this long; only the latter counts as an attack. */
const REMEMBERED_MS = 24 * 3_600_000;
const MAX_CACHED = 50_000;

/** 256 bits in base64url. */
const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

interface SessionRow {
  readonly id: string;
  readonly token_hash: string;
  readonly user_id: string;
  readonly kind: Session['kind'];
  readonly expires: number;
  readonly login: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly domain: string;
  readonly is_master: boolean;
}

export type FoundSession =
  | { readonly state: 'live'; readonly session: Session }
  | { readonly state: 'ended' }
  | { readonly state: 'unknown' };

export class SessionStore {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #byHash = new Map<string, Session>();
  readonly #hashes = new Map<string, string>();
  readonly #renewals = new Set<Promise<void>>();

  constructor(storage: Storage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Opens a session of a user in a domain. */
  async open(userId: string, domainId: string, kind: Session['kind']): Promise<{ session: Session; token: string }> {
    const token = randomBytes(32).toString('base64url');
    const tokenHash = hash('sha256', token, 'base64url');
    const created = this.#now();
    const id = randomUUID();
    await this.#storage.db
      .insertInto('sessions')
      .values({
        id,
        token_hash: tokenHash,
        user_id: userId,
        domain_id: domainId,
        kind,
        created,
        expires: created + SESSION_TTL_MS,
      })
      .execute();
    const session = await this.#read(sql`s.id = ${id}`);
    if (session === undefined) throw new Error('The user or the domain of a new session was removed meanwhile.');
    return { session, token };
  }

  /** The session of a secret. The usual case needs no database. */
  async find(token: string): Promise<FoundSession> {
    if (!TOKEN_SHAPE.test(token)) return { state: 'unknown' };
    const tokenHash = hash('sha256', token, 'base64url');
    const session = this.#byHash.get(tokenHash) ?? (await this.#read(sql`s.token_hash = ${tokenHash}`));
    if (session === undefined) return { state: 'unknown' };
    const now = this.#now();
    if (session.expires <= now) {
      this.#forget(session.id);
      return { state: 'ended' };
    }
    const due = session.expires - SESSION_TTL_MS + RENEW_STEP_MS <= now;
    return { state: 'live', session: due ? this.#renew(tokenHash, session, now) : session };
  }

  /** Ends a session; an unknown id is no error. */
  async end(id: string): Promise<void> {
    this.#forget(id);
    const now = this.#now();
    await this.#storage.db
      .updateTable('sessions')
      .set({ expires: now })
      .where('id', '=', id)
      .where('expires', '>', now)
      .execute();
  }

  /** Binds a session to another domain. */
  async rebind(id: string, domainId: string): Promise<Session | undefined> {
    await this.#storage.db.updateTable('sessions').set({ domain_id: domainId }).where('id', '=', id).execute();
    this.#forget(id);
    return await this.#read(sql`s.id = ${id}`);
  }

  /** Forgets what is in memory: users, roles or domains changed. */
  refresh(): void {
    this.#byHash.clear();
    this.#hashes.clear();
  }

  /** Deletes what ended longer ago than anyone asks for. */
  async purge(): Promise<void> {
    await this.#storage.db
      .deleteFrom('sessions')
      .where('expires', '<', this.#now() - REMEMBERED_MS)
      .execute();
  }

  /** Waits for renewals under way. */
  async close(): Promise<void> {
    await Promise.all(this.#renewals);
  }

  async #read(condition: RawBuilder<unknown>): Promise<Session | undefined> {
    const { rows } = await sql<SessionRow>`
      select s.id, s.token_hash, s.user_id, s.kind, s.expires, u.login, u.name, u.roles, d.name as domain, d.is_master
      from sessions s join users u on u.id = s.user_id join domains d on d.id = s.domain_id
      where ${condition}`.execute(this.#storage.db);
    const row = rows[0];
    if (row === undefined) return undefined;
    const session: Session = {
      id: row.id,
      userId: row.user_id,
      login: row.login,
      name: row.name,
      domain: row.domain,
      domainIsMaster: row.is_master,
      roles: row.roles,
      kind: row.kind,
      expires: row.expires,
    };
    if (session.expires > this.#now()) this.#keep(row.token_hash, session);
    return session;
  }

  #keep(tokenHash: string, session: Session): void {
    this.#byHash.set(tokenHash, session);
    this.#hashes.set(session.id, tokenHash);
    if (this.#byHash.size <= MAX_CACHED) return;
    const oldest = this.#byHash.values().next().value;
    if (oldest !== undefined) this.#forget(oldest.id);
  }

  #forget(id: string): void {
    const tokenHash = this.#hashes.get(id);
    if (tokenHash === undefined) return;
    this.#hashes.delete(id);
    this.#byHash.delete(tokenHash);
  }

  /** Moves the expiry; the request at hand does not wait for the write. */
  #renew(tokenHash: string, session: Session, now: number): Session {
    const renewed: Session = { ...session, expires: now + SESSION_TTL_MS };
    this.#keep(tokenHash, renewed);
    const write = this.#writeExpiry(renewed, now).catch((error: unknown) => {
      this.#storage.log.warn({ err: error, session: session.id }, 'session expiry not stored');
    });
    this.#renewals.add(write);
    void write.finally(() => this.#renewals.delete(write));
    return renewed;
  }

  /** An ended session stays ended. */
  async #writeExpiry({ id, expires }: Session, now: number): Promise<void> {
    await this.#storage.db
      .updateTable('sessions')
      .set({ expires })
      .where('id', '=', id)
      .where('expires', '>', now)
      .execute();
  }
}
