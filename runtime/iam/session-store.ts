/** Stores sessions: in a table by the hash of their secret, and cached in memory. */
import { hash, randomUUID } from 'node:crypto';
import type { Storage } from '../storage/index.ts';
import type { SessionSummary } from './session-rows.ts';
import type { Session } from './iam.ts';
import { SessionCache } from './session-cache.ts';
import { type SessionListener, SessionWatchers } from './session-watchers.ts';
import {
  type HashedSession,
  type StoredSession,
  endSession,
  endSessionsOf,
  liveSessionsOf,
  moveExpiry,
  readSessionByHash,
  readSessionById,
  readSessions,
  readSessionsOf,
} from './session-rows.ts';
import { isTokenShaped, newSessionToken } from './session-token.ts';

export interface SessionLimits {
  /** Idle lifetime in milliseconds. */
  readonly idleMs: number;
  /** Lifetime from login in milliseconds, regardless of use. */
  readonly lifetimeMs: number;
}

const DAY_MS = 24 * 3_600_000;
export const SESSION_LIMITS: SessionLimits = { idleMs: DAY_MS, lifetimeMs: Number.POSITIVE_INFINITY };
/**
 * The expiry is extended in steps, so that a busy session costs one write per step; for short idle lifetimes, a tenth
 * of them.
 */
const RENEW_STEP_MS = 10 * 60_000;
/** An ended session is distinguished from an unknown one for this long; only the latter counts as an attack. */
const REMEMBERED_MS = 24 * 3_600_000;
const MAX_CACHED = 50_000;
/** Other nodes on a server end sessions too and send a notice; if it is lost, the cache is trusted for this long. */
const SHARED_AGE_MS = 60_000;
const ENDED_AGE_MS = 5_000;
/** Topic of ended and moved sessions, sent between nodes. */
const CHANGED = 'sessions';

export type FoundSession =
  | { readonly state: 'live'; readonly session: StoredSession /** Its expiry was moved. */; readonly renewed: boolean }
  | { readonly state: 'ended' }
  | { readonly state: 'unknown' };

export interface OpenedSession {
  readonly session: StoredSession;
  /** The secret; it is not stored. */
  readonly token: string;
}

export class SessionStore {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #limits: SessionLimits;
  readonly #renewStepMs: number;
  readonly #isShared: boolean;
  readonly #maxAgeMs: number;
  readonly #unsubscribe: () => void;
  readonly #cache = new SessionCache(MAX_CACHED);
  readonly #watchers = new SessionWatchers();
  /** Background writes and reads. */
  readonly #behind = new Set<Promise<void>>();

  constructor(storage: Storage, now: () => number, limits: SessionLimits = SESSION_LIMITS) {
    this.#storage = storage;
    this.#now = now;
    this.#limits = limits;
    this.#renewStepMs = Math.min(RENEW_STEP_MS, limits.idleMs / 10);
    this.#isShared = storage.kind === 'postgres';
    this.#maxAgeMs = this.#isShared ? SHARED_AGE_MS : Number.POSITIVE_INFINITY;
    this.#unsubscribe = storage.notices.subscribe(CHANGED, {
      notice: (id) => {
        if (typeof id !== 'string') return;
        this.#cache.remove(id);
        this.#tell([id]);
      },
      gap: () => {
        this.#cache.forget();
        this.#tell(this.#watchers.ids);
      },
    });
  }

  /** Loads sessions into memory; repeated after changes of users, roles or domains. */
  async load(): Promise<void> {
    const readAt = this.#now();
    const sessions = await readSessions(this.#storage, MAX_CACHED);
    const alone = this.#storage.kind === 'pglite';
    this.#cache.fill(sessions, alone && sessions.length < MAX_CACHED, readAt);
    this.#tell(this.#watchers.ids);
  }

  /** Reloads the sessions of one changed user. */
  async loadOfUser(userId: string): Promise<void> {
    const readAt = this.#now();
    const sessions = await readSessionsOf(this.#storage, userId, MAX_CACHED);
    const there = new Set(sessions.map(([, { id }]) => id));
    const gone = this.#cache.idsOf(userId).filter((id) => !there.has(id));
    for (const id of gone) this.#cache.remove(id);
    for (const [tokenHash, session] of sessions) this.#cache.put(tokenHash, session, readAt);
    this.#tell([...gone, ...there]);
  }

  /** Opens a session of a user in a domain, by a login. */
  async open(userId: string, domainId: string, kind: Session['kind']): Promise<OpenedSession> {
    return await this.#insert(userId, domainId, kind);
  }

  /** Opens a token session beside another session. The lifetime of both counts from the same login. */
  async clone({ id, userId }: Session, domainId: string): Promise<OpenedSession> {
    const original = await readSessionById(this.#storage, id);
    if (original === undefined) throw new Error('The session to clone was removed meanwhile.');
    return await this.#insert(userId, domainId, 'token', original[1].created);
  }

  async #insert(userId: string, domainId: string, kind: Session['kind'], loggedIn?: number): Promise<OpenedSession> {
    const token = newSessionToken();
    const now = this.#now();
    const created = loggedIn ?? now;
    const id = randomUUID();
    await this.#storage.db
      .insertInto('sessions')
      .values({
        id,
        token_hash: hash('sha256', token, 'base64url'),
        user_id: userId,
        domain_id: domainId,
        kind,
        created,
        expires: this.#expiry(created, now),
      })
      .execute();
    const session = this.#keep(await readSessionById(this.#storage, id));
    if (session === undefined) throw new Error('The user or the domain of a new session was removed meanwhile.');
    return { session, token };
  }

  /**
   * The session of a secret. The usual case needs no database, and is answered at once.
   *
   * @param mayAsk false: uses the cache only, so that a banned address costs no query
   */
  find(token: string, mayAsk: () => boolean): FoundSession | Promise<FoundSession> {
    if (!isTokenShaped(token)) return { state: 'unknown' };
    const tokenHash = hash('sha256', token, 'base64url');
    const now = this.#now();
    const cached = this.#cache.get(tokenHash);
    const fresh = cached !== undefined && now - cached.readAt <= this.#ageLimit(cached.session, now);
    if (fresh) return this.#found(cached.session, now);
    return this.#ask(tokenHash, cached !== undefined || mayAsk()).then((session) => this.#found(session, now));
  }

  #found(session: StoredSession | undefined, now: number): FoundSession {
    if (session === undefined) return { state: 'unknown' };
    if (!this.#isLive(session, now)) return { state: 'ended' };
    const expires = this.#expiry(session.created, now);
    if (expires < session.expires + this.#renewStepMs) return { state: 'live', session, renewed: false };
    return { state: 'live', session: this.#renew(session, expires), renewed: true };
  }

  /** Ends a session; an unknown id is ignored. */
  async end(id: string): Promise<void> {
    const now = this.#now();
    this.#cache.change(id, (session) => ({ ...session, expires: Math.min(session.expires, now) }));
    this.#watchers.tell(id, undefined);
    await endSession(this.#storage, id, now);
    await this.#storage.notices.publish(CHANGED, id);
  }

  /**
   * Ends the live sessions of a user.
   * @param except id of a session to keep
   */
  async endOf(userId: string, except?: string): Promise<void> {
    const now = this.#now();
    for (const id of await endSessionsOf(this.#storage, userId, now, except)) {
      this.#cache.change(id, (session) => ({ ...session, expires: Math.min(session.expires, now) }));
      this.#watchers.tell(id, undefined);
      await this.#storage.notices.publish(CHANGED, id);
    }
  }

  /** Live sessions of a user, the newest first. */
  async liveOf(userId: string): Promise<readonly SessionSummary[]> {
    const now = this.#now();
    return (await liveSessionsOf(this.#storage, userId, now))
      .map((session) => ({ ...session, expires: Math.min(session.expires, session.created + this.#limits.lifetimeMs) }))
      .filter(({ expires }) => expires > now);
  }

  /** Moves a session to another domain. */
  async rebind(id: string, domainId: string): Promise<StoredSession | undefined> {
    await this.#storage.db.updateTable('sessions').set({ domain_id: domainId }).where('id', '=', id).execute();
    await this.#storage.notices.publish(CHANGED, id);
    const session = this.#keep(await readSessionById(this.#storage, id));
    this.#watchers.tell(id, session);
    return session;
  }

  /**
   * Calls back when the session ended, moved to another domain, or its user changed.
   *
   * @returns the function that ends the watch
   */
  watch(id: string, listener: SessionListener): () => void {
    return this.#watchers.watch(id, listener);
  }

  /** Deletes long-ended sessions. */
  async purge(): Promise<void> {
    const limit = this.#now() - REMEMBERED_MS;
    const purged = await this.#storage.db.deleteFrom('sessions').where('expires', '<', limit).returning('id').execute();
    for (const { id } of purged) this.#cache.remove(id);
  }

  /** Awaits the background work. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all(this.#behind);
  }

  /** Another node may have extended a session that looks expired. */
  #ageLimit({ expires }: StoredSession, now: number): number {
    return this.#isShared && expires <= now ? ENDED_AGE_MS : this.#maxAgeMs;
  }

  async #ask(tokenHash: string, allowed: boolean): Promise<StoredSession | undefined> {
    if (this.#cache.complete || !allowed) return undefined;
    const found = await readSessionByHash(this.#storage, tokenHash);
    const cached = this.#cache.get(tokenHash);
    if (found === undefined && cached !== undefined) this.#cache.remove(cached.session.id);
    return this.#keep(found);
  }

  #keep(found: HashedSession | undefined): StoredSession | undefined {
    if (found === undefined) return undefined;
    const [tokenHash, session] = found;
    this.#cache.put(tokenHash, session, this.#now());
    return session;
  }

  /** Extends the expiry in the background; the request does not wait. */
  #renew(session: StoredSession, expires: number): StoredSession {
    const renewed: StoredSession = { ...session, expires };
    this.#cache.change(session.id, () => renewed);
    const write = moveExpiry(this.#storage, session, renewed.expires).catch((error: unknown) => {
      this.#storage.log.warn({ err: error, session: session.id }, 'session expiry not stored');
    });
    this.#track(write);
    return renewed;
  }

  /** Notifies the watchers of these sessions; uncached sessions are read first. */
  #tell(ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#watchers.has(id)) continue;
      const known = this.#cache.byId(id);
      if (known !== undefined || this.#cache.complete) this.#watchers.tell(id, this.#living(known));
      else this.#track(this.#readAndTell(id));
    }
  }

  async #readAndTell(id: string): Promise<void> {
    try {
      this.#watchers.tell(id, this.#living(this.#keep(await readSessionById(this.#storage, id))));
    } catch (error) {
      this.#storage.log.warn({ err: error, session: id }, 'a watched session could not be read and counts as ended');
      this.#watchers.tell(id, undefined);
    }
  }

  #living(session: StoredSession | undefined): StoredSession | undefined {
    return session !== undefined && this.#isLive(session, this.#now()) ? session : undefined;
  }

  #isLive({ created, expires, locked }: StoredSession, now: number): boolean {
    // The configured lifetime may be shorter than when the session was opened.
    return !locked && expires > now && created + this.#limits.lifetimeMs > now;
  }

  /** Expiry of a session used now. */
  #expiry(created: number, now: number): number {
    return Math.min(now + this.#limits.idleMs, created + this.#limits.lifetimeMs);
  }

  #track(work: Promise<void>): void {
    this.#behind.add(work);
    void work.finally(() => this.#behind.delete(work));
  }
}
