/** How long an HTTP answer may be used without asking again (RFC 9111). */

/** Seconds for answers that say nothing (RFC 9111 section 4.2.2). */
const UNSAID = 60;
/** Longest time, seconds. */
const MOST = 86_400;

export interface Freshness {
  /** Seconds from now. */
  readonly seconds: number;
  /** May not be used for another request. */
  readonly noStore: boolean;
  /** May be used beyond its time while the server cannot be asked (RFC 5861 section 4). */
  readonly staleIfError: boolean;
}

/** @param headers names in lower case */
export function freshnessOf(headers: Readonly<Record<string, string>>, now = Date.now()): Freshness {
  const said = directivesOf(headers['cache-control'] ?? '');
  const age = Math.max(0, Number(headers['age'] ?? 0) || 0);
  const noStore = said.has('no-store');
  const staleIfError = !noStore && !said.has('must-revalidate');
  if (noStore || said.has('no-cache')) return { seconds: 0, noStore, staleIfError };
  const maxAge = said.get('max-age');
  const expires = headers['expires'];
  const seconds =
    maxAge !== undefined
      ? Number(maxAge) - age
      : expires !== undefined
        ? (Date.parse(expires) - (Date.parse(headers['date'] ?? '') || now)) / 1000
        : UNSAID;
  // An invalid time counts as past.
  return { seconds: Math.min(MOST, Math.max(0, seconds || 0)), noStore, staleIfError };
}

function directivesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.split('=');
      return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')] as const;
    }),
  );
}
