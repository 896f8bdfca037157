/** Digest authentication of phones. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** HA1 of an account, by algorithm (RFC 7616 section 3.4.2). */
export interface DigestSecret {
  readonly md5: string;
  readonly sha256: string;
}

export type DigestVerdict =
  | { readonly ok: true; readonly username: string }
  /** No credentials for this realm: send a challenge. */
  | { readonly ok: false; readonly reason: 'missing' }
  /** The nonce is expired, or its count was used before: send a new challenge, the password may be right. */
  | { readonly ok: false; readonly reason: 'stale' }
  | { readonly ok: false; readonly reason: 'wrong'; readonly username: string };

/** Lifetime of a nonce in milliseconds. */
const NONCE_LIFE_MS = 300_000;
/** Number of nonces with a recorded count; older ones count as stale. */
const NONCES_KEPT = 50_000;

/**
 * Digest authentication of phones (RFC 3261 section 22, RFC 7616, RFC 8760). Nonces are signed, timed and made for one
 * address, so issued ones need no table; each use must carry a higher count, which prevents replay. Only who received a
 * challenge can answer it: nobody can make failures in the name of another address.
 */
export class DigestAuthenticator {
  readonly #key: () => Uint8Array;
  /** Counts of used nonces, in the order of their last use. */
  readonly #used = new Map<string, number>();
  /** Nonces issued until this time are stale, as the count of one of them was dropped. */
  #forgotten = 0;
  readonly #now: () => number;

  /** @param key signs nonces; nodes with the same key take each other's. Default: one of its own */
  constructor(now: () => number = Date.now, key: () => Uint8Array = ownKey()) {
    this.#now = now;
    this.#key = key;
  }

  /**
   * The value of WWW-Authenticate or Proxy-Authenticate. A single challenge, with MD5: current phones fail when a
   * second one with an unknown algorithm follows.
   * @param address of the sender
   */
  challenge(realm: string, address: string, stale: boolean): string {
    const nonce = this.#nonce(address);
    return `Digest realm="${realm}", nonce="${nonce}", algorithm=MD5, qop="auth"${stale ? ', stale=true' : ''}`;
  }

  /**
   * @param header value of Authorization or Proxy-Authorization, if present
   * @param address of the sender
   * @param secretOf HA1 of a user name in the realm; undefined for an unknown user
   */
  verify(
    header: string | undefined,
    method: string,
    realm: string,
    address: string,
    secretOf: (username: string) => DigestSecret | undefined,
  ): DigestVerdict {
    const fields = header === undefined ? undefined : parseDigest(header);
    if (fields === undefined || fields.realm?.toLowerCase() !== realm.toLowerCase())
      return { ok: false, reason: 'missing' };
    const { username = '', nonce = '', uri = '', response = '', qop, cnonce = '', nc = '' } = fields;
    if (!this.#fresh(nonce, address)) return { ok: false, reason: 'stale' };
    // Before the password, so that the repetition of a right answer, however spoilt, is no wrong password.
    const count = qop === undefined ? 1 : Number.parseInt(nc, 16);
    if (!(count > (this.#used.get(nonce) ?? 0))) return { ok: false, reason: 'stale' };
    const algorithm = (fields.algorithm ?? 'MD5').toUpperCase();
    const hash = algorithm === 'SHA-256' ? 'sha256' : algorithm === 'MD5' ? 'md5' : undefined;
    const secret = secretOf(username);
    if (hash === undefined || secret === undefined || (qop !== undefined && qop !== 'auth')) {
      return { ok: false, reason: 'wrong', username };
    }
    const digest = (text: string) => createHash(hash).update(text).digest('hex');
    const middle = qop === undefined ? nonce : `${nonce}:${nc}:${cnonce}:${qop}`;
    const expected = digest(`${secret[hash]}:${middle}:${digest(`${method}:${uri}`)}`);
    if (!equal(expected, response.toLowerCase())) return { ok: false, reason: 'wrong', username };
    // Last, so that only a request with the right password consumes a count.
    this.#use(nonce, count);
    return { ok: true, username };
  }

  #nonce(address: string): string {
    const stamp = this.#now().toString(36);
    const salt = randomBytes(9).toString('base64url');
    return `${stamp}.${salt}.${this.#sign(`${stamp}.${salt}.${address}`)}`;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key()).update(text).digest('base64url').slice(0, 22);
  }

  #fresh(nonce: string, address: string): boolean {
    const [stamp = '', salt = '', signature = ''] = nonce.split('.');
    if (!equal(this.#sign(`${stamp}.${salt}.${address}`), signature)) return false;
    const issued = issuedAt(nonce);
    const age = this.#now() - issued;
    return age >= 0 && age < NONCE_LIFE_MS && issued > this.#forgotten;
  }

  #use(nonce: string, count: number): void {
    this.#used.delete(nonce);
    this.#used.set(nonce, count);
    if (this.#used.size <= NONCES_KEPT) return;
    const oldest = this.#used.keys().next().value as string;
    this.#used.delete(oldest);
    this.#forgotten = Math.max(this.#forgotten, issuedAt(oldest));
  }
}

function ownKey(): () => Uint8Array {
  const key = randomBytes(32);
  return () => key;
}

/** Milliseconds since the epoch. */
function issuedAt(nonce: string): number {
  return Number.parseInt(nonce, 36);
}

const FIELD = /(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g;

function parseDigest(header: string): Record<string, string> | undefined {
  if (!/^\s*Digest\s/i.test(header) || header.length > 4096) return undefined;
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [, name = '', quoted, plain] of header.replace(/^\s*Digest\s+/i, '').matchAll(FIELD)) {
    fields[name.toLowerCase()] = quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1');
  }
  return fields;
}

function equal(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}
