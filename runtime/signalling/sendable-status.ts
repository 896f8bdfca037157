import { knownStatus } from '../sip-facts/index.ts';

/** Registered statuses that drachtio-srf 5.0 does not know. */
const UNKNOWN_TO_LIBRARY: ReadonlySet<number> = new Set([425, 440, 469, 555, 607, 608]);

/**
 * The status as which an answer of a far end is passed on: the x00 of its class where drachtio-srf would throw (RFC 3261
 * section 8.1.3.2). A phone may answer anything.
 */
export function sendableStatus(status: number): number {
  const known = knownStatus(status);
  return UNKNOWN_TO_LIBRARY.has(known) ? Math.floor(known / 100) * 100 : known;
}
