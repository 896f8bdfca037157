/** Users, sessions and the login ban: what the REST bridge needs to know who is asking. */

export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly login: string;
  readonly name: string;
  /** Name of the domain the session is bound to. */
  readonly domain: string;
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
  /** The present one. */
  readonly old: string;
  readonly pwd: string;
}

export type PasswordResult = { readonly ok: true } | Extract<LoginResult, { readonly ok: false }>;

/** Whose external token it is, as the scenario says. */
export interface ConfirmedUser {
  readonly domain: string;
  readonly login: string;
}

/**
 * Runs the service scenario that confirms external tokens (specification, "Authentication" 3).
 *
 * @param code the scenario, from the master domain's setting `iam_token_svcscript_code`
 * @returns the scenario's variables `domain` and `login`; undefined when it did not confirm
 * @throws TokenScenarioError when it could not be asked: that is nobody's failed login
 */
export type ConfirmToken = (code: string, token: string) => Promise<ConfirmedUser | undefined>;

/** The scenario that confirms external tokens is not there, or gave no answer. */
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

export interface Iam {
  /** Checks the ban first, then domain, login and password in constant time, and opens a session. */
  login(credentials: Credentials, kind: Session['kind'], ip: string): Promise<LoginResult>;
  /**
   * Opens a session for whoever the service scenario says the token belongs to. A token that is not confirmed, or
   * confirmed for a user who does not exist, is a failed login; one that could not be asked about is none.
   */
  loginByToken(
    token: string,
    kind: Session['kind'],
    ip: string,
  ): Promise<LoginResult | { readonly ok: false; readonly reason: 'not_configured' | 'no_answer' }>;
  /** Opens a token session for whoever holds `session` (`token_clone_cookie`). */
  cloneToToken(session: Session): Promise<{ session: Session; token: string }>;
  /** The live session of a secret; an unknown one counts towards the ban of `ip`. */
  authenticate(
    token: string,
    ip: string,
  ): Promise<
    | { ok: true; session: Session /** Its expiry was moved. */; renewed?: boolean }
    | { ok: false; reason: 'unknown' }
    | { ok: false; reason: 'banned'; retryAfterSeconds: number }
  >;
  /**
   * Calls back whenever the session may be another than it was: it ended (undefined), works in another domain, or its
   * user has other roles.
   *
   * @returns a function that ends the watch
   */
  watch(session: Session, listener: (now: Session | undefined) => void): () => void;
  /**
   * Changes the password of the session's user, and ends the user's other sessions. A wrong present password counts as a
   * failed login of `ip`.
   *
   * @throws InvalidFieldError for a password that cannot be one
   */
  changePassword(session: Session, change: PasswordChange, ip: string): Promise<PasswordResult>;
  /** Ends a session; unknown ids are no error. */
  logout(sessionId: string): Promise<void>;
  /** Deny by default: may this session use this method (upper case, custom ones included) on this path? */
  allows(session: Session, method: string, path: string): boolean;
  /**
   * Domains that the session's user may change to without another login: the home domain first, then those that the
   * user was let into, then those below, for an administrator.
   */
  reachableDomains(session: Session): Promise<readonly ReachableDomain[]>;
  /** Binds the session to another reachable domain; undefined when it is out of reach. */
  changeDomain(session: Session, domainName: string): Promise<Session | undefined>;
}
