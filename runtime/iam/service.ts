/** Implements IAM: login with ban, sessions, roles. */
import { sql } from 'kysely';
import type { LiveDirectory } from '../domain/index.ts';
import type { Storage } from '../storage/index.ts';
import type { BanFilter } from './ban-filter.ts';
import type { IamCollections } from './collections.ts';
import { RoleTable } from './grants.ts';
import {
  type Authentication,
  type ConfirmToken,
  type Credentials,
  type Iam,
  type LoginResult,
  type PasswordChange,
  type PasswordResult,
  type ReachableDomain,
  type Session,
  TokenScenarioError,
} from './iam.ts';
import type { Accounts } from './accounts.ts';
import { NO_PASSWORD, verifyPassword } from './password.ts';
import { reaches } from './reach.ts';
import type { StoredSession } from './session-rows.ts';
import type { FoundSession, SessionStore } from './session-store.ts';

const PURGE_EVERY_MS = 3_600_000;
/** A longer password cannot have been stored; it is refused without hashing. */
const MAX_PASSWORD = 1_024;
/** Topic of failed logins, sent between nodes. */
const BANS = 'bans';
/** Setting of the master domain (specification, "Authentication" 3). */
const TOKEN_SCENARIO = 'iam_token_svcscript_code';

/** A user at login: in the home domain, or in a further one. */
interface LoginRow {
  readonly id: string;
  readonly password: string;
  readonly domain_id: string;
}

export interface IamParts {
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly collections: IamCollections;
  readonly accounts: Accounts;
  readonly sessions: SessionStore;
  readonly ban: BanFilter;
  /** Absent: the node runs no scenario that confirms external tokens. */
  readonly confirmToken: ConfirmToken | undefined;
}

export class IamService implements Iam {
  /** Changes take effect with the next request. */
  readonly collections: IamCollections;
  readonly accounts: Accounts;
  readonly #storage: Storage;
  readonly #directory: LiveDirectory;
  readonly #sessions: SessionStore;
  readonly #ban: BanFilter;
  readonly #confirmToken: ConfirmToken | undefined;
  #roles = new RoleTable([], []);
  readonly #purge: NodeJS.Timeout;
  #unsubscribe = (): void => undefined;

  constructor({ storage, directory, collections, accounts, sessions, ban, confirmToken }: IamParts) {
    this.#storage = storage;
    this.#directory = directory;
    this.collections = collections;
    this.accounts = accounts;
    this.#sessions = sessions;
    this.#ban = ban;
    this.#confirmToken = confirmToken;
    this.#purge = setInterval(() => {
      sessions.purge().catch((error: unknown) => storage.log.warn({ err: error }, 'old sessions not deleted'));
    }, PURGE_EVERY_MS).unref();
    this.#follow();
  }

  /** Loads roles and sessions; called before use and after changes of roles and domains. */
  async reload(): Promise<void> {
    await this.#readRoles();
    await this.#sessions.load();
  }

  async #readRoles(): Promise<void> {
    this.#roles = new RoleTable(await this.collections.roles.list(), this.#directory.domains());
  }

  login(credentials: Credentials, kind: Session['kind'], ip: string): Promise<LoginResult> {
    return this.#attempt(kind, ip, () => this.#check(credentials));
  }

  async loginByToken(token: string, kind: Session['kind'], ip: string): ReturnType<Iam['loginByToken']> {
    const confirm = this.#confirmToken;
    const code = confirm === undefined ? undefined : await this.#tokenScenario();
    if (confirm === undefined || code === undefined) return { ok: false, reason: 'not_configured' };
    try {
      return await this.#attempt(kind, ip, async () => {
        const user = await confirm(code, token);
        return user === undefined ? undefined : await this.#find(user.domain, user.login);
      });
    } catch (error) {
      if (!(error instanceof TokenScenarioError)) throw error;
      return { ok: false, reason: error.fault === 'missing' ? 'not_configured' : 'no_answer' };
    }
  }

  /** One attempt under the ban; failures of all kinds of credentials count. */
  async #attempt(
    kind: Session['kind'],
    ip: string,
    identify: () => Promise<LoginRow | undefined>,
  ): Promise<LoginResult> {
    const admission = await this.#ban.admit(ip);
    if (!admission.admitted) {
      return { ok: false, reason: 'banned', retryAfterSeconds: admission.retryAfterSeconds };
    }
    let failed = false;
    try {
      const user = await identify();
      failed = user === undefined;
      if (user === undefined) return { ok: false, reason: 'credentials' };
      const opened = await this.#sessions.open(user.id, user.domain_id, kind);
      // Locked, or another password, while the old one was checked: what ends the sessions may have missed this one.
      const now = await this.collections.users.get(user.id);
      failed = now === undefined || now.locked || now.password !== user.password;
      if (!failed) return { ok: true, ...opened };
      await this.#sessions.end(opened.session.id);
      return { ok: false, reason: 'credentials' };
    } finally {
      admission.done(failed);
    }
  }

  async cloneToToken(session: Session): Promise<{ session: Session; token: string }> {
    const domain = this.#directory.domain(session.domain);
    if (domain === undefined) throw new Error(`The domain ${session.domain} of the session was removed.`);
    return await this.#sessions.clone(session, domain.id);
  }

  authenticate(token: string, ip: string): Authentication | Promise<Authentication> {
    const found = this.#sessions.find(token, () => this.#ban.retryAfter(ip) === 0);
    return found instanceof Promise ? found.then((each) => this.#admit(each, ip)) : this.#admit(found, ip);
  }

  #admit(found: FoundSession, ip: string): Authentication {
    // Other users behind the same address keep their sessions.
    const isLive = found.state === 'live';
    if (isLive && this.#isInReach(found.session)) return { ok: true, session: found.session, renewed: found.renewed };
    const retryAfterSeconds = this.#ban.retryAfter(ip);
    if (retryAfterSeconds > 0) return { ok: false, reason: 'banned', retryAfterSeconds };
    if (found.state === 'unknown') this.#ban.fail(ip);
    return { ok: false, reason: 'unknown' };
  }

  async changePassword({ id, userId }: Session, { old, pwd }: PasswordChange, ip: string): Promise<PasswordResult> {
    const admission = await this.#ban.admit(ip);
    if (!admission.admitted) {
      return { ok: false, reason: 'banned', retryAfterSeconds: admission.retryAfterSeconds };
    }
    let failed = false;
    try {
      const user = await this.collections.users.get(userId);
      failed = !(await verifyPassword(old.slice(0, MAX_PASSWORD), user?.password ?? NO_PASSWORD));
    } finally {
      admission.done(failed);
    }
    if (failed) return { ok: false, reason: 'credentials' };
    await this.collections.users.update(userId, { pwd });
    await this.#sessions.endOf(userId, id);
    return { ok: true };
  }

  async logout(sessionId: string): Promise<void> {
    await this.#sessions.end(sessionId);
  }

  watch(session: Session, listener: (now: Session | undefined) => void): () => void {
    return this.#sessions.watch(session.id, (now) =>
      listener(now !== undefined && this.#isInReach(now) ? now : undefined),
    );
  }

  allows(session: Session, method: string, path: string): boolean {
    return this.#roles.allows(session.domain, session.roles, method, path);
  }

  async reachableDomains(session: Session): Promise<readonly ReachableDomain[]> {
    const user = await this.collections.users.get(session.userId);
    if (user === undefined) return [];
    const reach = { homes: [user.domain_id, ...user.domains], roles: user.roles };
    const homes = [...new Set(reach.homes)].map((id) => this.#directory.domainById(id));
    const others = this.#directory
      .domains()
      .filter(({ id }) => !reach.homes.includes(id) && reaches(reach, id, this.#directory))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return [...homes, ...others]
      .filter((domain) => domain !== undefined)
      .map(({ name, isMaster }) => ({ domain: name, is_master: isMaster }));
  }

  async changeDomain(session: Session, domainName: string): Promise<Session | undefined> {
    const domain = this.#directory.domain(domainName);
    const user = await this.collections.users.get(session.userId);
    if (domain === undefined || user === undefined) return undefined;
    const reach = { homes: [user.domain_id, ...user.domains], roles: user.roles };
    if (!reaches(reach, domain.id, this.#directory)) return undefined;
    return await this.#sessions.rebind(session.id, domain.id);
  }

  /** Stops timers and awaits running writes; the storage must still be open. */
  async close(): Promise<void> {
    clearInterval(this.#purge);
    this.#unsubscribe();
    await this.#sessions.close();
  }

  /** True while roles, permitted domains and the tree still allow the session's domain. */
  #isInReach({ homes, roles, domainId }: StoredSession): boolean {
    return reaches({ homes, roles }, domainId, this.#directory);
  }

  /** Same query and same hash work for every failure, so that the response time reveals nothing. */
  async #check({ domain, login, pwd }: Credentials): Promise<LoginRow | undefined> {
    const found = await this.#find(domain, login);
    const user = pwd.length <= MAX_PASSWORD ? found : undefined;
    const correct = await verifyPassword(pwd.slice(0, MAX_PASSWORD), user?.password ?? NO_PASSWORD);
    return correct ? user : undefined;
  }

  async #find(domain: string, login: string): Promise<LoginRow | undefined> {
    // PostgreSQL's text excludes NUL, and so do names.
    const clean = (text: string): string => text.replaceAll('\0', '\uFFFD');
    const { rows } = await sql<LoginRow>`
      select u.id, u.password, d.id as domain_id
      from users u join domains d on u.domain_id = d.id or u.domains @> to_jsonb(d.id)
      where u.login = ${clean(login)} and not u.locked and lower(d.name) = lower(${clean(domain)})
      order by (u.domain_id = d.id) desc
      limit 1`.execute(this.#storage.db);
    return rows[0];
  }

  /** Code of the scenario that confirms external tokens. */
  async #tokenScenario(): Promise<string | undefined> {
    const setting = await this.#storage.db
      .selectFrom('settings')
      .innerJoin('domains', 'domains.id', 'settings.domain_id')
      .select('settings.value')
      .where('domains.is_master', '=', true)
      .where('settings.key', '=', TOKEN_SCENARIO)
      .executeTakeFirst();
    return typeof setting?.value === 'string' && setting.value !== '' ? setting.value : undefined;
  }

  #follow(): void {
    const { users, roles } = this.collections;
    const { domains } = this.#directory.collections;
    roles.onChange(() => this.#readRoles());
    domains.onChange(async ({ before, after }) => {
      await this.#readRoles();
      // Sessions contain the domain's name, and its descendants are permitted.
      const isSame = before?.name === after?.name && before?.parent_id === after?.parent_id;
      if (before !== undefined && !isSame) await this.#sessions.load();
    });
    users.onChange(async ({ before, after }) => {
      // A new user has no session yet.
      if (before === undefined) return;
      await this.#sessions.loadOfUser(before.id);
      // A removed user's sipusers lost their owner in the database.
      if (after === undefined) await this.#directory.reload();
    });
    for (const collection of [users, roles, domains]) collection.onReset(() => this.reload());
    this.#ban.onFailure((key, at) => {
      this.#storage.notices.publish(BANS, { key, at }).catch((error: unknown) => {
        this.#storage.log.warn({ err: error }, 'the other nodes were not told about a failed login');
      });
    });
    this.#unsubscribe = this.#storage.notices.subscribe(BANS, {
      notice: (payload) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- published by #publish of another node
        const { key, at } = payload as { key: string; at: number };
        this.#ban.note(key, at);
      },
      // Missed failures would expire after three minutes in any case.
      gap: () => undefined,
    });
  }
}
