/** Session keys from a master key (RFC 3711 section 4.3, RFC 7714 section 11). */
import type { SrtpSuiteName } from '../../../sip-facts/index.ts';
import { KeyStream } from './key-stream.ts';

const KEY_OCTETS = 16;

/** Octets of a salt by suite. */
const SALT_OCTETS: Readonly<Record<SrtpSuiteName, number>> = { AES_CM_128_HMAC_SHA1_80: 14, AEAD_AES_128_GCM: 12 };

/** Octets of the HMAC key (RFC 3711 section 5.2). */
const AUTHENTICATION_OCTETS = 20;

/** The keys for the packets of one protocol in one direction. */
export interface SessionKeys {
  readonly encryption: Buffer;
  readonly authentication: Buffer;
  readonly salt: Buffer;
}

/**
 * Derives the session keys; the key derivation rate is 0.
 * @param master master key, then master salt
 */
export function sessionKeys(suite: SrtpSuiteName, master: Buffer, protocol: 'rtp' | 'rtcp'): SessionKeys {
  const saltOctets = SALT_OCTETS[suite];
  // A salt of 12 octets is extended by zeros on the right (RFC 7714 section 11).
  const salt = Buffer.concat([master.subarray(KEY_OCTETS, KEY_OCTETS + saltOctets), Buffer.alloc(14 - saltOctets)]);
  const label = protocol === 'rtp' ? 0 : 3;
  const derive = (offset: number, length: number): Buffer => {
    const labelled = Buffer.from(salt);
    labelled[7] = (labelled[7] as number) ^ (label + offset);
    const bytes = Buffer.alloc(length);
    new KeyStream(master.subarray(0, KEY_OCTETS), labelled).apply(bytes, 0, length, 0, 0);
    return bytes;
  };
  return {
    encryption: derive(0, KEY_OCTETS),
    authentication: derive(1, AUTHENTICATION_OCTETS),
    salt: derive(2, saltOctets),
  };
}
