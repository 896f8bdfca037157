/** The IAM interface for the REST bridge: users, sessions and the login ban. */
import type { DomainName } from '../domain-name/index.ts';

export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly login: string;
  readonly name: string;
  /** Name of the session's domain. */
  readonly domain: DomainName;
  readonly domainIsMaster: boolean;
  readonly roles: readonly string[];
  readonly kind: 'cookie' | 'token';
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface Credentials {
  readonly domain: string;
  readonly login: string;
  readonly pwd: string;
}

export type LoginResult =
  | {
      readonly ok: true;
      readonly session: Session /** The secret the client keeps; stored hashed. */;
      readonly token: string;
    }
  | { readonly ok: false; readonly reason: 'credentials' }
  | { readonly ok: false; readonly reason: 'banned'; readonly retryAfterSeconds: number };

export interface PasswordChange {
  /** The current password. */
  readonly old: string;
  readonly pwd: string;
}

export type PasswordResult = { readonly ok: true } | Extract<LoginResult, { readonly ok: false }>;

/** The user confirmed by the scenario. */
export interface ConfirmedUser {
  readonly domain: string;
  readonly login: string;
}

/**
 * Runs the service scenario that confirms external tokens (specification, "Authentication" 3).
 *
 * @param code of the scenario, from the master domain's setting `iam_token_svcscript_code`
 * @returns the scenario's variables `domain` and `login`; undefined when it did not confirm the token
 * @throws TokenScenarioError when the scenario failed, which is not a failed login
 */
export type ConfirmToken = (code: string, token: string) => Promise<ConfirmedUser | undefined>;

/** The scenario that confirms external tokens is missing or did not answer. */
export class TokenScenarioError extends Error {
  override readonly name = 'TokenScenarioError';
  readonly fault: 'missing' | 'no_answer';

  constructor(fault: 'missing' | 'no_answer', message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

export interface ReachableDomain {
  readonly domain: string;
  readonly is_master: boolean;
}

export type Authentication =
  | { readonly ok: true; readonly session: Session /** Its expiry was moved. */; readonly renewed?: boolean }
  | { readonly ok: false; readonly reason: 'unknown' }
  | { readonly ok: false; readonly reason: 'banned'; readonly retryAfterSeconds: number };

export interface Iam {
  /** Checks the ban first, then domain, login and password in constant time, and opens a session. */
  login(credentials: Credentials, kind: Session['kind'], ip: string): Promise<LoginResult>;
  /**
   * Opens a session for the user confirmed by the service scenario. An unconfirmed token, or one for an unknown user,
   * is a failed login; a failure of the scenario is not.
   */
  loginByToken(
    token: string,
    kind: Session['kind'],
    ip: string,
  ): Promise<LoginResult | { readonly ok: false; readonly reason: 'not_configured' | 'no_answer' }>;
  /** Opens a token session for the user of `session` (`token_clone_cookie`). Its lifetime counts from the same login. */
  cloneToToken(session: Session): Promise<{ session: Session; token: string }>;
  /**
   * The live session of a secret; an unknown secret counts towards the ban of `ip`. At once, unless the session has to be
   * read from the database: every request waits for this.
   */
  authenticate(token: string, ip: string): Authentication | Promise<Authentication>;
  /**
   * Calls back when the session may have changed: it ended (undefined), moved to another domain, or its user's roles
   * changed.
   *
   * @returns the function that ends the watch
   */
  watch(session: Session, listener: (now: Session | undefined) => void): () => void;
  /**
   * Changes the password of the session's user, and ends the user's other sessions. A wrong current password counts as
   * a failed login of `ip`.
   *
   * @throws InvalidFieldError for an invalid new password
   */
  changePassword(session: Session, change: PasswordChange, ip: string): Promise<PasswordResult>;
  /** Ends a session; an unknown id is ignored. */
  logout(sessionId: string): Promise<void>;
  /** True when the session may use this method (upper case, or custom) on this path. Denied by default. */
  allows(session: Session, method: string, path: string): boolean;
  /**
   * Domains that the session's user may change to without another login: the home domain first, then further domains of
   * the user, then, for an administrator, those below.
   */
  reachableDomains(session: Session): Promise<readonly ReachableDomain[]>;
  /** Moves the session to another permitted domain; undefined for any other. */
  changeDomain(session: Session, domainName: string): Promise<Session | undefined>;
}
