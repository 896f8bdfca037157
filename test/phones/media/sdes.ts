/** Keys in the test phone's session descriptions (RFC 4568). */
import { randomBytes } from 'node:crypto';
import { keyOctets, type Protection, protection, type SrtpSuite } from './srtp.ts';

/** The keys of one call: its own for all of it, and those that the far end names. */
export class SdesKeys {
  readonly #suite: SrtpSuite;
  readonly #own: Buffer;
  #tag = '1';

  constructor(suite: SrtpSuite) {
    this.#suite = suite;
    this.#own = randomBytes(keyOctets(suite));
  }

  /** The description with encrypted audio. */
  encrypted(sdp: string): string {
    return `${sdp.replace(' RTP/AVP ', ' RTP/SAVP ')}a=crypto:${this.#tag} ${this.#suite} inline:${this.#own.toString('base64')}\r\n`;
  }

  /** Reads the far end's key; undefined without one for the suite. */
  agreed(sdp: string): Protection | undefined {
    const [, tag, key] = new RegExp(`^a=crypto:(\\d+) ${this.#suite} inline:([\\w+/=]+)`, 'm').exec(sdp) ?? [];
    if (tag === undefined || key === undefined) return undefined;
    this.#tag = tag;
    return protection(this.#suite, this.#own, Buffer.from(key, 'base64'));
  }
}
