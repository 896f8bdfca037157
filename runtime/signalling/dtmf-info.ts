/** DTMF by INFO, in the forms of phones and gateways; there is no standard. */

/** Event codes of RFC 4733 section 3.2, which some devices send instead of the key. */
const KEYS: Readonly<Record<string, string>> = { 10: '*', 11: '#', 12: 'A', 13: 'B', 14: 'C', 15: 'D' };

/**
 * The key of an INFO request: `Signal=5` or `d=5` among other lines (application/dtmf-relay,
 * application/vnd.nortelnetworks.digits), or the key alone (application/dtmf).
 * @returns undefined for an INFO without a key
 */
export function dtmfOfInfo(contentType: string, body: string): string | undefined {
  if (!/^\s*application\/(dtmf|dtmf-relay|vnd\.nortelnetworks\.digits)\s*(;|$)/i.test(contentType)) return undefined;
  const named = /^\s*(?:signal|d)\s*=\s*(\S+)/im.exec(body)?.[1];
  const bare = /^\s*application\/dtmf\s*(;|$)/i.test(contentType) ? body.trim() : undefined;
  const key = (named ?? bare ?? '').toUpperCase();
  return /^[0-9A-D*#]$/.test(key) ? key : KEYS[key];
}
