/** Digest access authentication of a SIP client (RFC 7616, RFC 8760, RFC 3261 section 22). */
import { createHash, randomBytes } from 'node:crypto';

export type DigestAlgorithm = 'MD5' | 'SHA-256';

export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly algorithm: DigestAlgorithm;
  readonly opaque: string | undefined;
  readonly qop: readonly string[];
  readonly stale: boolean;
}

/** Reads a WWW-Authenticate or Proxy-Authenticate value; undefined for an unknown scheme or algorithm. */
export function parseChallenge(value: string): Challenge | undefined {
  if (!/^digest\s/i.test(value)) return undefined;
  const params = new Map<string, string>();
  for (const match of value.slice(7).matchAll(/([a-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,\s]+)/gi)) {
    const text = match[2] ?? '';
    params.set((match[1] ?? '').toLowerCase(), text.startsWith('"') ? text.slice(1, -1) : text);
  }
  const algorithm = (params.get('algorithm') ?? 'MD5').toUpperCase();
  const realm = params.get('realm');
  const nonce = params.get('nonce');
  if (realm === undefined || nonce === undefined) return undefined;
  if (algorithm !== 'MD5' && algorithm !== 'SHA-256') return undefined;
  return {
    realm,
    nonce,
    algorithm,
    opaque: params.get('opaque'),
    qop: (params.get('qop') ?? '').split(',').map((entry) => entry.trim()),
    stale: params.get('stale')?.toLowerCase() === 'true',
  };
}

export interface DigestInput {
  readonly challenge: Challenge;
  readonly username: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
  /** Number of uses of this nonce, including the present one. */
  readonly nonceCount: number;
  /** For tests against published vectors; random otherwise. */
  readonly cnonce?: string;
}

/** The value of Authorization or Proxy-Authorization (RFC 7616 section 3.4). */
export function authorization(input: DigestInput): string {
  const { challenge, username, password, method, uri } = input;
  const hash = (text: string): string =>
    createHash(challenge.algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const ha1 = hash(`${username}:${challenge.realm}:${password}`);
  const ha2 = hash(`${method}:${uri}`);
  const fields = [
    `username="${username}"`,
    `realm="${challenge.realm}"`,
    `nonce="${challenge.nonce}"`,
    `uri="${uri}"`,
    `algorithm=${challenge.algorithm}`,
  ];
  if (challenge.qop.includes('auth')) {
    const cnonce = input.cnonce ?? randomBytes(12).toString('hex');
    const nc = input.nonceCount.toString(16).padStart(8, '0');
    const response = hash(`${ha1}:${challenge.nonce}:${nc}:${cnonce}:auth:${ha2}`);
    fields.push(`response="${response}"`, 'qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`);
  } else {
    fields.push(`response="${hash(`${ha1}:${challenge.nonce}:${ha2}`)}"`);
  }
  if (challenge.opaque !== undefined) fields.push(`opaque="${challenge.opaque}"`);
  return `Digest ${fields.join(', ')}`;
}
