/** SIP URIs, name-addr values and parameters (RFC 3261 sections 19.1, 20.10, 25.1). */

export interface SipUri {
  readonly scheme: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  readonly params: ReadonlyMap<string, string>;
}

export interface NameAddr {
  readonly display: string | undefined;
  readonly uri: string;
  readonly params: ReadonlyMap<string, string>;
}

/** The text is no address or parameter list of RFC 3261. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/** Reads `;a=b;c` into a map; names in lower case, quotes removed, a name alone has the value ''. */
export function parseParams(text: string): Map<string, string> {
  const params = new Map<string, string>();
  for (const match of text.matchAll(/;\s*([^=;\s]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^;]*))?/g)) {
    const value = (match[2] ?? '').trim();
    params.set((match[1] ?? '').toLowerCase(), value.startsWith('"') ? value.slice(1, -1) : value);
  }
  return params;
}

/** @throws AddressError when it is no sip or sips URI */
export function parseUri(text: string): SipUri {
  const match = /^(sips?):(?:([^@;?]*)@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d+))?((?:;[^?]*)?)(?:\?.*)?$/.exec(
    text,
  );
  if (match === null) throw new AddressError(`not a SIP URI: ${text}`);
  return {
    scheme: match[1] ?? '',
    user: match[2] === undefined ? undefined : match[2].split(':')[0],
    host: (match[3] ?? '').toLowerCase(),
    port: match[4] === undefined ? undefined : Number(match[4]),
    params: parseParams(match[5] ?? ''),
  };
}

/** @throws AddressError when it is neither `"name" <uri>;params` nor `uri;params` */
export function parseNameAddr(text: string): NameAddr {
  const bracketed = /^\s*("(?:[^"\\]|\\.)*"|[^<"]*?)\s*<([^>]+)>\s*(;.*)?$/.exec(text);
  if (bracketed !== null) {
    const display = bracketed[1] ?? '';
    return {
      display: display === '' ? undefined : display.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'),
      uri: bracketed[2] ?? '',
      params: parseParams(bracketed[3] ?? ''),
    };
  }
  const plain = /^\s*([a-z]+:[^;,\s]+)\s*(;.*)?$/i.exec(text);
  if (plain === null) throw new AddressError(`not an address: ${text}`);
  return { display: undefined, uri: plain[1] ?? '', params: parseParams(plain[2] ?? '') };
}

/** The `tag` parameter of a From or To value, or undefined. */
export function tagOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return parseNameAddr(value).params.get('tag');
}

export interface Via {
  readonly transport: string;
  readonly sentBy: string;
  readonly params: ReadonlyMap<string, string>;
}

/** @throws AddressError */
export function parseVia(text: string): Via {
  const match = /^SIP\s*\/\s*2\.0\s*\/\s*([A-Z]+)\s+([^;\s]+)\s*(;.*)?$/.exec(text);
  if (match === null) throw new AddressError(`malformed Via: ${text}`);
  return { transport: match[1] ?? '', sentBy: match[2] ?? '', params: parseParams(match[3] ?? '') };
}

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

/** @throws AddressError */
export function parseCSeq(text: string): CSeq {
  const match = /^(\d{1,10})\s+([A-Z]+)$/.exec(text);
  if (match === null || Number(match[1]) >= 2 ** 31) throw new AddressError(`malformed CSeq: ${text}`);
  return { number: Number(match[1]), method: match[2] ?? '' };
}
