/** Names of SIP headers. */

/**
 * Canonical spellings of header names, in the order in which the server writes them: Via, routing, dialog
 * identification, the rest by topic, the description of the body last. Unknown headers follow in the order in which
 * they were added.
 */
const CANONICAL = [
  'Via',
  'Route',
  'Record-Route',
  'Max-Forwards',
  'Proxy-Require',
  'From',
  'To',
  'Call-ID',
  'CSeq',
  'Contact',
  'RSeq',
  'RAck',
  'Request-Disposition',
  'Accept-Contact',
  'Reject-Contact',
  'Expires',
  'Date',
  'Retry-After',
  'Timestamp',
  'Min-Expires',
  'Subject',
  'Priority',
  'Call-Info',
  'Organization',
  'Server',
  'User-Agent',
  'In-Reply-To',
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Allow',
  'Require',
  'Supported',
  'Unsupported',
  'Event',
  'Allow-Events',
  'Subscription-State',
  'Proxy-Authenticate',
  'Proxy-Authentication-Info',
  'Proxy-Authorization',
  'Authorization',
  'WWW-Authenticate',
  'Authentication-Info',
  'Error-Info',
  'Warning',
  'Refer-To',
  'Referred-By',
  'Replaces',
  'Session-Expires',
  'Min-SE',
  'Path',
  'Service-Route',
  'Reason',
  'Security-Client',
  'Security-Server',
  'Security-Verify',
  'Privacy',
  'SIP-ETag',
  'SIP-If-Match',
  'MIME-Version',
  'Content-Type',
  'Content-Encoding',
  'Content-Language',
  'Content-Disposition',
  'Content-Length',
] as const;

/** Compact forms and their long names in lower case (RFC 3261 section 7.3.3, and the RFCs of later headers). */
const COMPACT: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
};

const ranks = new Map<string, number>(CANONICAL.map((name, index) => [name.toLowerCase(), index]));
const spellings = new Map<string, string>(CANONICAL.map((name) => [name.toLowerCase(), name]));

/** Cache from spelling to key. Bounded, because peers choose the spellings. */
const keys = new Map<string, string>();
const MAX_KEYS = 512;

/** The key of a header name: long form, lower case. Equal for `v`, `Via` and `VIA`. */
export function headerKey(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const key = COMPACT[lower] ?? lower;
  if (keys.size < MAX_KEYS) keys.set(name, key);
  return key;
}

/** The canonical spelling of a key (`call-id` -> `Call-ID`), or `undefined` for a header the stack does not know. */
export function canonicalName(key: string): string | undefined {
  return spellings.get(key);
}

/** Position of a header in a message that the server builds; unknown headers come last. */
export function headerRank(key: string): number {
  return ranks.get(key) ?? CANONICAL.length;
}

/** Header fields whose values may be combined with commas (RFC 3261 section 7.3.1). */
const LISTS = new Set([
  'via',
  'route',
  'record-route',
  'contact',
  'path',
  'service-route',
  'allow',
  'supported',
  'require',
  'proxy-require',
  'unsupported',
  'accept',
  'accept-encoding',
  'accept-language',
  'allow-events',
  'call-info',
  'error-info',
  'in-reply-to',
  'warning',
  'history-info',
  'diversion',
  'p-asserted-identity',
]);

/** Whether several values of this header may share one line, separated by commas. */
export function isListHeader(key: string): boolean {
  return LISTS.has(key);
}
