/** Refuses requests that this side cannot process. */
import { headerOf } from './header-of.ts';
import type { SrfMessage } from './srf-types.ts';

/** Extensions that a request may require. */
const KNOWN = new Set(['100rel', 'norefersub', 'replaces', 'timer']);

/**
 * The refusal of an unsupported request, before any other processing (RFC 3261 section 8.2.2): 416 for a Request-URI
 * that is neither a SIP URI nor a telephone number; 420 for an unsupported extension in Require or Proxy-Require
 * (section 16.3); 415 for an INVITE with another body than a session description.
 * @returns undefined for a supported request
 */
export function unsupportedRequest(
  request: Pick<SrfMessage, 'method' | 'uri' | 'body' | 'get'>,
): { status: number; headers: Record<string, string> } | undefined {
  if (!/^(?:sips?|tel):/i.test(request.uri)) return { status: 416, headers: {} };
  const required = ['Require', 'Proxy-Require'].flatMap((header) => tagsOf(request.get(header)));
  const unknown = new Set(required.filter((tag) => tag !== '' && !KNOWN.has(tag.toLowerCase())));
  if (unknown.size > 0) return { status: 420, headers: { Unsupported: [...unknown].join(', ') } };
  if (request.method !== 'INVITE' || request.body === '') return undefined;
  if (!/^(?:application\/sdp|multipart\/.*)\s*(?:;|$)/i.test(request.get('Content-Type')?.trim() ?? 'application/sdp'))
    return { status: 415, headers: { Accept: 'application/sdp, multipart/mixed' } };
  if (!/^\s*(?:identity\s*)?$/i.test(headerOf(request, 'Content-Encoding') ?? ''))
    return { status: 415, headers: { 'Accept-Encoding': 'identity' } };
  return undefined;
}

/** True when a message requires reliable provisional answers other than 100 (RFC 3262 section 3). */
export function requiresReliable(message: Pick<SrfMessage, 'get'>): boolean {
  return tagsOf(message.get('Require')).some((tag) => tag.toLowerCase() === '100rel');
}

function tagsOf(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').map((tag) => tag.trim());
}
