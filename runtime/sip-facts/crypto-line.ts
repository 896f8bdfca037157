/** Lines `a=crypto` of session descriptions: suites and keys of encrypted media (RFC 4568). */

/** The supported suites, and the octets of a master key with its salt (RFC 4568 section 6.2, RFC 7714 section 14.2). */
export const SRTP_KEY_OCTETS = { AES_CM_128_HMAC_SHA1_80: 30, AEAD_AES_128_GCM: 28 } as const;

export type SrtpSuiteName = keyof typeof SRTP_KEY_OCTETS;

/** One usable line. */
export interface CryptoLine {
  readonly tag: number;
  readonly suite: SrtpSuiteName;
  /** Master key, then master salt. */
  readonly key: Buffer;
}

const LINE = /^(\d{1,9}) (\w+) (\S+)((?: \S+)*)\s*$/;
const KEY = /^inline:([A-Za-z0-9+/]+={0,2})(?:\|(?:2\^)?\d+)?(\|\d+:\d+)?$/;

/** Parameters that change nothing for the receiver (RFC 4568 section 6.3); any other must be understood (6.3.7). */
const HARMLESS = /^(?:KDR=0|WSH=\d+|-\S+)$/;

/**
 * Reads the value of an `a=crypto` line.
 * @returns the line, or why it is unusable, as the end of a sentence
 */
export function readCryptoLine(value: string): CryptoLine | string {
  const match = LINE.exec(value);
  if (match === null) return 'is malformed';
  const [, tag, suite = '', method = '', parameters = ''] = match;
  if (!isSuite(suite)) return `has the unknown suite ${suite.slice(0, 40)}`;
  const unknown = parameters.split(' ').find((each) => each !== '' && !HARMLESS.test(each));
  if (unknown !== undefined) return `has the unsupported parameter ${unknown.slice(0, 40)}`;
  const inline = KEY.exec(method);
  if (inline === null) return 'has no readable key';
  if (inline[2] !== undefined) return 'has a key identifier (MKI), which is not supported';
  const key = Buffer.from(inline[1] as string, 'base64');
  const octets = SRTP_KEY_OCTETS[suite];
  if (key.length !== octets) return `has a key of ${key.length} octets instead of ${octets}`;
  return { tag: Number(tag), suite, key };
}

/** The value of an `a=crypto` line. */
export function writeCryptoLine({ tag, suite, key }: CryptoLine): string {
  return `${tag} ${suite} inline:${key.toString('base64')}`;
}

function isSuite(name: string): name is SrtpSuiteName {
  return Object.hasOwn(SRTP_KEY_OCTETS, name);
}
