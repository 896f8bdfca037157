/** User parts of the Contacts with which this platform registers with providers. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Hex digits. */
const NONCE = 8;
const USER = /^[0-9a-f]{32}$/;

/**
 * A user part cannot be guessed, so a call to it comes from the provider. It shows whose it is to each node with the same key: a
 * SIP server gives the calls of a provider to any of them.
 */
export class ContactUsers {
  readonly #key: () => Uint8Array;

  /** @param key absent: only this node knows its own */
  constructor(key?: () => Uint8Array) {
    const own = randomBytes(32);
    this.#key = key ?? (() => own);
  }

  fresh(provider: string): string {
    const nonce = randomBytes(NONCE / 2).toString('hex');
    return nonce + this.#proof(nonce, provider);
  }

  /** True for a user part that a node made for this provider. */
  isOf(user: string, provider: string): boolean {
    if (!USER.test(user)) return false;
    const proof = this.#proof(user.slice(0, NONCE), provider);
    return timingSafeEqual(Buffer.from(user.slice(NONCE)), Buffer.from(proof));
  }

  #proof(nonce: string, provider: string): string {
    return createHmac('sha256', this.#key()).update(`contact ${nonce} ${provider}`).digest('hex').slice(0, 24);
  }
}
