/** The server's own SRTP keys of one call. */
import { randomBytes } from 'node:crypto';
import { type CryptoLine, SRTP_KEY_OCTETS, type SrtpSuiteName, writeCryptoLine } from '../../../sip-facts/index.ts';

/** Offered suites, the preferred one first: AES-GCM costs Node four times the processor time (docs/performance.md). */
const SUITES: readonly SrtpSuiteName[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'];

/** One key a suite, made when first needed. It stays for the call, as the far end may be offered it and answer much later. */
export class LocalKeys {
  readonly #keys = new Map<SrtpSuiteName, Buffer>();

  of(suite: SrtpSuiteName): Buffer {
    const key = this.#keys.get(suite) ?? randomBytes(SRTP_KEY_OCTETS[suite]);
    this.#keys.set(suite, key);
    return key;
  }

  /** The lines of an offer. */
  lines(): string[] {
    return SUITES.map((suite, at) => `a=crypto:${writeCryptoLine({ tag: at + 1, suite, key: this.of(suite) })}`);
  }

  /** The line that answers a line of the far end (RFC 4568 section 5.1.2). */
  answering({ tag, suite }: CryptoLine): CryptoLine {
    return { tag, suite, key: this.of(suite) };
  }
}
