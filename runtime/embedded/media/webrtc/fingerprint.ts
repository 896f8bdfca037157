/** Fingerprints of certificates in session descriptions (RFC 8122). */
import { createHash } from 'node:crypto';

/** Accepted hash functions; SHA-1 and older ones are broken. */
const HASHES = ['sha-256', 'sha-384', 'sha-512'];

export interface Fingerprint {
  /** Lower case, as registered: `sha-256`. */
  readonly hash: string;
  /** Upper case, with colons. */
  readonly value: string;
}

/** The accepted fingerprints of the lines of a session description. */
export function readFingerprints(lines: string): Fingerprint[] {
  const found = lines.matchAll(/^a=fingerprint:(\S+) ([\dA-Fa-f]{2}(?::[\dA-Fa-f]{2})+)\s*$/gm);
  return [...found]
    .map(([, hash = '', value = '']) => ({ hash: hash.toLowerCase(), value: value.toUpperCase() }))
    .filter(({ hash }) => HASHES.includes(hash));
}

export function fingerprintOf(certificate: Uint8Array, hash = 'sha-256'): string {
  const digest = createHash(hash.replace('-', '')).update(certificate).digest('hex').toUpperCase();
  return (digest.match(/../g) ?? []).join(':');
}

/** Whether a certificate has one of the fingerprints. */
export function hasFingerprint(certificate: Uint8Array, expected: readonly Fingerprint[]): boolean {
  return expected.some(({ hash, value }) => fingerprintOf(certificate, hash) === value);
}
