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

export interface Iam {
  /** Checks the ban first, then domain, login and password in constant time, and opens a session. */
  login(credentials: Credentials, kind: Session['kind'], ip: string): Promise<LoginResult>;
  /** Opens a token session for whoever holds `session` (`token_clone_cookie`). */
  cloneToToken(session: Session): Promise<{ session: Session; token: string }>;
  /** The live session of a secret; an unknown one counts towards the ban of `ip`. */
  authenticate(
    token: string,
    ip: string,
  ): Promise<
    | { ok: true; session: Session }
    | { ok: false; reason: 'unknown' }
    | { ok: false; reason: 'banned'; retryAfterSeconds: number }
  >;
  /** Ends a session; unknown ids are no error. */
  logout(sessionId: string): Promise<void>;
  /** Deny by default: may this session use this method (upper case, custom ones included) on this path? */
  allows(session: Session, method: string, path: string): boolean;
}
