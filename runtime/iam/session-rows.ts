/** Reads and writes the table `sessions`. */
import { type RawBuilder, sql } from 'kysely';
import type { DomainName } from '../domain-name/index.ts';
import type { Storage } from '../storage/index.ts';
import type { Session } from './iam.ts';

interface SessionRow {
  readonly id: string;
  readonly token_hash: string;
  readonly user_id: string;
  readonly kind: Session['kind'];
  readonly created: number;
  readonly expires: number;
  readonly locked: boolean;
  readonly login: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** As spelt in the table of domains. */
  readonly domain: DomainName;
  readonly is_master: boolean;
  readonly domain_id: string;
  readonly home: string;
  readonly further: readonly string[];
}

/** A session with the facts that decide whether it remains valid. */
export interface StoredSession extends Session {
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** The user may not log in: the session counts as ended. */
  readonly locked: boolean;
  readonly domainId: string;
  /** Ids of the user's home domain, first, and of the user's further domains. */
  readonly homes: readonly string[];
}

export type HashedSession = readonly [tokenHash: string, session: StoredSession];

/** Sessions with the current names of their users and domains. */
async function read(
  storage: Storage,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<readonly HashedSession[]> {
  const { rows } = await sql<SessionRow>`
    select s.id, s.token_hash, s.user_id, s.kind, s.created, s.expires, u.locked, u.login, u.name, u.roles, d.name as domain, d.is_master,
      s.domain_id, u.domain_id as home, u.domains as further
    from sessions s join users u on u.id = s.user_id join domains d on d.id = s.domain_id
    where ${condition}
    order by s.expires desc
    limit ${limit}`.execute(storage.db);
  return rows.map((row) => [
    row.token_hash,
    {
      id: row.id,
      userId: row.user_id,
      login: row.login,
      name: row.name,
      domain: row.domain,
      domainIsMaster: row.is_master,
      roles: row.roles,
      kind: row.kind,
      created: row.created,
      expires: row.expires,
      locked: row.locked,
      domainId: row.domain_id,
      homes: [row.home, ...row.further],
    },
  ]);
}

/** At most `limit` sessions, the longest-living first. */
export function readSessions(storage: Storage, limit: number): Promise<readonly HashedSession[]> {
  return read(storage, sql`true`, limit);
}

/** At most `limit` sessions of one user. */
export function readSessionsOf(storage: Storage, userId: string, limit: number): Promise<readonly HashedSession[]> {
  return read(storage, sql`s.user_id = ${userId}`, limit);
}

export async function readSessionById(storage: Storage, id: string): Promise<HashedSession | undefined> {
  return (await read(storage, sql`s.id = ${id}`, 1))[0];
}

export async function readSessionByHash(storage: Storage, tokenHash: string): Promise<HashedSession | undefined> {
  return (await read(storage, sql`s.token_hash = ${tokenHash}`, 1))[0];
}

/** Extends the expiry unless it was changed meanwhile: an ended session stays ended. */
export async function moveExpiry(storage: Storage, { id, expires }: Session, to: number): Promise<void> {
  await storage.db
    .updateTable('sessions')
    .set({ expires: to })
    .where('id', '=', id)
    .where('expires', '=', expires)
    .execute();
}

/** Ends a live session. */
export async function endSession(storage: Storage, id: string, now: number): Promise<void> {
  await storage.db
    .updateTable('sessions')
    .set({ expires: now })
    .where('id', '=', id)
    .where('expires', '>', now)
    .execute();
}

/**
 * Ends the live sessions of a user.
 *
 * @param except id of a session to keep
 * @returns the ids of the ended sessions
 */
export async function endSessionsOf(
  storage: Storage,
  userId: string,
  now: number,
  except: string | undefined,
): Promise<readonly string[]> {
  const ended = await storage.db
    .updateTable('sessions')
    .set({ expires: now })
    .where('user_id', '=', userId)
    .where('expires', '>', now)
    .where('id', '!=', except ?? '')
    .returning('id')
    .execute();
  return ended.map(({ id }) => id);
}

/** Live sessions of a user, the newest first. */
export async function liveSessionsOf(
  storage: Storage,
  userId: string,
  now: number,
): Promise<readonly SessionSummary[]> {
  return await storage.db
    .selectFrom('sessions')
    .innerJoin('domains', 'domains.id', 'sessions.domain_id')
    .select(['sessions.id', 'sessions.kind', 'domains.name as domain', 'sessions.created', 'sessions.expires'])
    .where('sessions.user_id', '=', userId)
    .where('sessions.expires', '>', now)
    .orderBy('sessions.created', 'desc')
    .orderBy('sessions.id')
    .limit(1_000)
    .execute();
}

/** A live session for administrators, without its secret. */
export interface SessionSummary {
  readonly id: string;
  readonly kind: 'cookie' | 'token';
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
}
