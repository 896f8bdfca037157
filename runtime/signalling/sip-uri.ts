/** Parses and prints SIP URIs (RFC 3261 section 19.1). */

export interface SipUri {
  readonly scheme: 'sip' | 'sips' | 'tel';
  /** Percent-decoded user part without password; may be empty. */
  readonly user: string;
  /** Lower case, with the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number | undefined;
  /** Parameters by lower-case name; a flag has an empty value. */
  readonly params: Readonly<Record<string, string>>;
}

const URI = /^(sips?|tel):(?:([^@]*)@)?(\[[0-9a-fA-F:.]+\]|[^:;?>]*)(?::(\d{1,5}))?((?:;[^?]*)?)(?:\?.*)?$/i;

/** Parses an addr-spec, with or without angle brackets and display name; undefined when invalid. */
export function parseSipUri(text: string): SipUri | undefined {
  const open = openBracket(text);
  const spec = open === -1 ? text.trim() : text.slice(open + 1, text.indexOf('>', open));
  const match = URI.exec(spec);
  if (!match) return undefined;
  const [, scheme = '', userinfo = '', host = '', port, params = ''] = match;
  const lower = scheme.toLowerCase() as SipUri['scheme'];
  // Separators of telephone numbers are only visual (RFC 3966 section 5.1.1).
  const user = decodeUser(lower === 'tel' ? host.replace(/[-.()]/g, '') : (userinfo.split(':')[0] ?? ''));
  if (user === undefined) return undefined;
  return {
    scheme: lower,
    user,
    host: lower === 'tel' ? '' : host.toLowerCase(),
    port: port === undefined ? undefined : Number(port),
    params: parseParams(params),
  };
}

/** Start of the URI in a name-addr: a quoted display name may contain brackets (section 25.1). -1: none. */
function openBracket(text: string): number {
  const quoted = /^\s*"(?:[^"\\]|\\.)*"/.exec(text)?.[0].length ?? 0;
  return text.indexOf('<', quoted);
}

function decodeUser(user: string): string | undefined {
  try {
    return decodeURIComponent((user.split(';')[0] ?? '').replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
  } catch {
    return undefined;
  }
}

function parseParams(text: string): Record<string, string> {
  const params: Record<string, string> = {};
  for (const part of text.split(';')) {
    if (part === '') continue;
    const [name = '', value = ''] = part.split('=', 2);
    params[name.toLowerCase()] = value;
  }
  return params;
}

// user-unreserved and unreserved of RFC 3261 section 25.1; other characters are escaped, above all `#`.
const USER_SAFE = /[^A-Za-z0-9\-_.!~*'()&=+$,/?]/gu;

/** A party as shown in dialogs: `<sip:USERNAME@DOMAIN>`. */
export function bracketUri(user: string, domain: string): string {
  return `<${plainUri(user, domain)}>`;
}

/** `sip:USERNAME@DOMAIN`, with an escaped user part. */
export function plainUri(user: string, domain: string): string {
  return `sip:${user.toWellFormed().replace(USER_SAFE, (c) => encodeURIComponent(c))}@${domain}`;
}

/** The display name of a name-addr; undefined without one. */
export function displayName(nameAddress: string): string | undefined {
  const before = nameAddress.slice(0, Math.max(0, openBracket(nameAddress))).trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(before)?.[1];
  const name = quoted === undefined ? before : quoted.replace(/\\(.)/g, '$1');
  return name === '' ? undefined : name;
}

/** A name-addr for From and To: `"Display" <sip:user@domain>`. */
export function nameAddr(display: string | undefined, user: string, domain: string): string {
  const uri = bracketUri(user, domain);
  if (display === undefined || display === '') return uri;
  // Prevents a display name from ending the header or its quotes.
  const quoted = display.replace(/[\r\n\0]+/g, ' ').replace(/(["\\])/g, '\\$1');
  return `"${quoted}" ${uri}`;
}
