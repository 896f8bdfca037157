/** Digest authentication of a client (RFC 7616 section 3.4, RFC 3261 section 22). */
import { createHash, randomBytes } from 'node:crypto';
import type { SipResponse } from '../../embedded/stack/index.ts';
import type { Account } from '../plan.ts';

/** Credentials as a header of the repeated request. */
export interface Credentials {
  readonly name: 'Authorization' | 'Proxy-Authorization';
  readonly value: string;
}

/**
 * Answers the challenge of a 401 or 407.
 * @returns undefined without a challenge of a known algorithm
 */
export function credentialsFor(
  response: SipResponse,
  account: Account,
  method: string,
  uri: string,
): Credentials | undefined {
  const isProxy = response.status === 407;
  for (const value of response.values(isProxy ? 'proxy-authenticate' : 'www-authenticate')) {
    const answer = answerTo(value, account, method, uri);
    if (answer !== undefined) return { name: isProxy ? 'Proxy-Authorization' : 'Authorization', value: answer };
  }
  return undefined;
}

function answerTo(challenge: string, account: Account, method: string, uri: string): string | undefined {
  if (!/^digest\s/i.test(challenge)) return undefined;
  const fields = new Map<string, string>();
  for (const [, name = '', text = ''] of challenge.matchAll(/([a-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,\s]+)/gi)) {
    fields.set(name.toLowerCase(), text.replace(/^"(.*)"$/, '$1'));
  }
  const { realm, nonce, opaque, qop = '', algorithm = 'MD5' } = Object.fromEntries(fields);
  const hash = { MD5: 'md5', 'SHA-256': 'sha256' }[algorithm.toUpperCase()];
  if (hash === undefined || realm === undefined || nonce === undefined) return undefined;
  const digest = (text: string): string => createHash(hash).update(text).digest('hex');
  const secret = digest(`${account.login}:${realm}:${account.password}`);
  const target = digest(`${method}:${uri}`);
  const parts = [
    `Digest username="${account.login}"`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${uri}"`,
    `algorithm=${algorithm}`,
  ];
  if (qop.split(',').some((one) => one.trim() === 'auth')) {
    const cnonce = randomBytes(8).toString('hex');
    const response = digest(`${secret}:${nonce}:00000001:${cnonce}:auth:${target}`);
    parts.push(`response="${response}"`, 'qop=auth', 'nc=00000001', `cnonce="${cnonce}"`);
  } else parts.push(`response="${digest(`${secret}:${nonce}:${target}`)}"`);
  if (opaque !== undefined) parts.push(`opaque="${opaque}"`);
  return parts.join(', ');
}
