import type { SrfMessage } from './srf-types.ts';

/** Extensions that a request may require of this side: reliable answers are the SIP server's. */
const KNOWN = new Set(['100rel', 'timer', 'replaces']);

/**
 * What a request requires and nobody here knows: it is refused with 420, and these are its Unsupported (RFC 3261 section
 * 8.2.2.3). Undefined when there is nothing of the kind.
 */
export function unknownExtensions(request: SrfMessage): string | undefined {
  const required = (request.get('Require') ?? '').split(',').map((tag) => tag.trim());
  const unknown = required.filter((tag) => tag !== '' && !KNOWN.has(tag.toLowerCase()));
  return unknown.length === 0 ? undefined : unknown.join(', ');
}
