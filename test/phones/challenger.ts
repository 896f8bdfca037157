import { token, header, type SipHeader } from './sip/message.ts';
import type { ServerTransaction } from './sip/server-transaction.ts';
import { authorization, parseChallenge } from './sip/digest.ts';

export interface ChallengerOptions {
  readonly realm: string;
  readonly username: string;
  readonly password: string;
  /** Seconds: shorter registrations are refused with 423. */
  readonly minExpires?: number;
  /** Status for wrong credentials: 403, or 407 with another challenge. */
  readonly refusesWith?: 403 | 407;
  /** Value of Service-Route of its registrations (RFC 3608). */
  readonly serviceRoute?: string;
  /** Refuses registrations with `reg-id` with 439 (RFC 5626). */
  readonly withoutOutbound?: boolean;
}

/** The operator's side of digest authentication (RFC 3261 section 22): every request needs the password. */
export class Challenger {
  readonly #options: ChallengerOptions;
  readonly #nonce = token();

  constructor(options: ChallengerOptions) {
    this.#options = options;
  }

  get minExpires(): number {
    return this.#options.minExpires ?? 0;
  }

  get serviceRoute(): string | undefined {
    return this.#options.serviceRoute;
  }

  get withoutOutbound(): boolean {
    return this.#options.withoutOutbound === true;
  }

  /** Whether the request is authenticated; otherwise it has been challenged or refused. */
  admits(transaction: ServerTransaction): boolean {
    const { request } = transaction;
    const registers = request.method === 'REGISTER';
    const given = header(request, registers ? 'authorization' : 'proxy-authorization');
    const challenge = `Digest realm="${this.#options.realm}", nonce="${this.#nonce}", algorithm=MD5, qop="auth"`;
    const right = given !== undefined && this.#isRight(given, challenge, request.method, request.uri);
    if (right) return true;
    if (given === undefined || this.#options.refusesWith === 407) {
      const headers: SipHeader[] = [{ name: registers ? 'WWW-Authenticate' : 'Proxy-Authenticate', value: challenge }];
      transaction.respond(registers ? 401 : 407, { headers });
      return false;
    }
    transaction.respond(403);
    return false;
  }

  #isRight(given: string, challengeText: string, method: string, uri: string): boolean {
    const field = (name: string): string => new RegExp(`[ ,]${name}="?([^",]*)`).exec(given)?.[1] ?? '';
    const challenge = parseChallenge(challengeText);
    if (challenge === undefined || field('username') !== this.#options.username) return false;
    const expected = authorization({
      challenge,
      username: this.#options.username,
      password: this.#options.password,
      method,
      uri,
      nonceCount: Number.parseInt(field('nc'), 16),
      cnonce: field('cnonce'),
    });
    return field('response') === /response="([^"]*)/.exec(expected)?.[1];
  }
}
