/** Users' view of their own account, and administrators' view of its sessions. */
import { sql } from 'kysely';
import type { Storage } from '../storage/index.ts';
import type { IamCollections } from './collections.ts';
import type { SessionStore } from './session-store.ts';
import type { SessionSummary } from './session-rows.ts';

/** Metadata of the avatar, stored in `opts.avatar_info`; `false` without an avatar. */
export interface AvatarInfo {
  /** Original file name. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** ISO 8601, UTC. */
  readonly mtime: string;
  /** `sha256;<HEX>` */
  readonly hasha: string;
  readonly content_type: string;
}

/** A user without secrets. */
export interface UserProfile {
  readonly id: string;
  readonly login: string;
  readonly name: string;
  readonly domainId: string;
  readonly roles: readonly string[];
  readonly tags: readonly string[];
  readonly avatar: AvatarInfo | false;
}

export interface Accounts {
  user(id: string): Promise<UserProfile | undefined>;
  /** Live sessions of a user, the newest first. */
  sessionsOf(userId: string): Promise<readonly SessionSummary[]>;
  /** Ends one live session of a user; false for an unknown id. */
  endSession(userId: string, sessionId: string): Promise<boolean>;
  /** Ends the live sessions of a user. @param except id of a session to keep */
  endSessions(userId: string, except?: string): Promise<void>;
  /** @throws EntityNotFoundError when the user was removed */
  setAvatar(userId: string, info: AvatarInfo | false): Promise<void>;
  /** True when the content is some user's avatar. */
  isAvatarInUse(hasha: string): Promise<boolean>;
  /** Hashes of all avatars, of users of all domains. */
  avatars(): Promise<readonly string[]>;
}

export class UserAccounts implements Accounts {
  readonly #storage: Storage;
  readonly #collections: IamCollections;
  readonly #sessions: SessionStore;

  constructor(storage: Storage, collections: IamCollections, sessions: SessionStore) {
    this.#storage = storage;
    this.#collections = collections;
    this.#sessions = sessions;
  }

  async user(id: string): Promise<UserProfile | undefined> {
    const row = await this.#collections.users.get(id);
    if (row === undefined) return undefined;
    const { login, name, domain_id: domainId, roles, tags } = row;
    return { id, login, name, domainId, roles, tags, avatar: avatarInfo(row.opts['avatar_info']) };
  }

  sessionsOf(userId: string): Promise<readonly SessionSummary[]> {
    return this.#sessions.liveOf(userId);
  }

  async endSession(userId: string, sessionId: string): Promise<boolean> {
    const mine = await this.sessionsOf(userId);
    if (!mine.some(({ id }) => id === sessionId)) return false;
    await this.#sessions.end(sessionId);
    return true;
  }

  endSessions(userId: string, except?: string): Promise<void> {
    return this.#sessions.endOf(userId, except);
  }

  async setAvatar(userId: string, info: AvatarInfo | false): Promise<void> {
    await this.#collections.users.update(userId, { opts: { avatar_info: info } });
  }

  async isAvatarInUse(hasha: string): Promise<boolean> {
    const { rows } = await sql`
      select 1 from users where opts -> 'avatar_info' ->> 'hasha' = ${hasha} limit 1`.execute(this.#storage.db);
    return rows.length > 0;
  }

  async avatars(): Promise<readonly string[]> {
    const { rows } = await sql<{ info: unknown }>`
      select opts -> 'avatar_info' as info from users where opts ? 'avatar_info'`.execute(this.#storage.db);
    const infos = rows.map(({ info }) => avatarInfo(info)).filter((info) => info !== false);
    return [...new Set(infos.map(({ hasha }) => hasha))];
  }
}

/** Administrators may write `opts` freely: an invalid value counts as no avatar. */
function avatarInfo(value: unknown): AvatarInfo | false {
  if (typeof value !== 'object' || value === null) return false;
  const { name, size, mtime, hasha, content_type } = value as Partial<Record<keyof AvatarInfo, unknown>>;
  const complete =
    typeof name === 'string' &&
    typeof size === 'number' &&
    typeof mtime === 'string' &&
    typeof content_type === 'string' &&
    /^[\w.+-]+\/[\w.+-]+$/.test(content_type) &&
    typeof hasha === 'string' &&
    /^sha256;[0-9A-F]{64}$/.test(hasha);
  return complete ? { name, size, mtime, hasha, content_type } : false;
}
