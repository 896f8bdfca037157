/** Reads headers in long and compact form. */
import type { SrfMessage } from './srf-types.ts';

/** Compact forms unknown to drachtio-srf (RFC 3261 section 7.3.3, and the RFC of each header). */
const COMPACT: Readonly<Record<string, string>> = {
  'allow-events': 'u',
  'content-encoding': 'e',
  event: 'o',
  'refer-to': 'r',
  'referred-by': 'b',
  'session-expires': 'x',
};

/** The value of a header, written out or in its compact form. */
export function headerOf(message: Pick<SrfMessage, 'get'>, name: string): string | undefined {
  const compact = COMPACT[name.toLowerCase()];
  return message.get(name) ?? (compact === undefined ? undefined : message.get(compact));
}
