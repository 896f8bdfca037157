/** Reads texts of MESSAGEs. */
import { headerOf } from './header-of.ts';
import type { SrfRequest } from './srf-types.ts';

/** The text of a MESSAGE, or its refusal. */
export type TextBody =
  | { readonly text: string }
  | { readonly refusal: { readonly status: number; readonly headers: Record<string, string> } };

const ACCEPT = { Accept: 'text/plain' };

/**
 * Reads the text of a MESSAGE (RFC 3428 section 7): `text/plain` in UTF-8, else 415; more octets than allowed: 513.
 * @param maxOctets of the body
 */
export function readTextBody(req: Pick<SrfRequest, 'body' | 'get'>, maxOctets: number): TextBody {
  if (!isPlainText(req.get('Content-Type') ?? '')) return { refusal: { status: 415, headers: ACCEPT } };
  if ((headerOf(req, 'Content-Encoding') ?? 'identity').toLowerCase() !== 'identity')
    return { refusal: { status: 415, headers: { ...ACCEPT, 'Accept-Encoding': 'identity' } } };
  // 513 Message Too Large.
  if (Buffer.byteLength(req.body) > maxOctets) return { refusal: { status: 513, headers: {} } };
  return { text: req.body };
}

/** UTF-8 is the default charset (RFC 3261 section 7.4.1); ASCII is a subset. */
function isPlainText(contentType: string): boolean {
  const [type = '', ...params] = contentType.toLowerCase().split(';');
  const charset = params.map((each) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(each)?.[1]).find(Boolean);
  return type.trim() === 'text/plain' && (charset === undefined || charset === 'utf-8' || charset === 'us-ascii');
}
