/** Parses and writes name-addr values. */
import { SipParseError } from './errors.ts';
import { formatParams, indexOutside, parseParams } from './scan.ts';

/**
 * `From`, `To`, `Contact`, `Route`, `Record-Route`, `Refer-To` ...: name-addr or addr-spec (RFC 3261 section 20.10).
 */
export interface NameAddr {
  /** Display name as written, quotes included; empty if there is none. */
  readonly display: string;
  /** The URI's text. */
  readonly uri: string;
  /** Header parameters (after the closing bracket). Names in lower case. */
  readonly params: ReadonlyMap<string, string | undefined>;
}

/**
 * Reads a name-addr or addr-spec. Without angle brackets every parameter belongs to the header (section 20.10).
 * @param field the header's name, for the error.
 * @throws SipParseError when the URI is missing, or a bracket or quote is not closed.
 */
export function parseNameAddr(text: string, field = 'name-addr'): NameAddr {
  const open = openBracket(text);
  if (open >= 0) {
    const close = text.indexOf('>', open);
    if (close < 0) throw new SipParseError(field, text, 'a closing ">"');
    const uri = text.slice(open + 1, close).trim();
    if (uri === '') throw new SipParseError(field, text, 'a URI between "<" and ">"');
    return { display: text.slice(0, open).trim(), uri, params: parseParams(text.slice(close + 1)) };
  }
  const semicolon = text.indexOf(';');
  const uri = (semicolon < 0 ? text : text.slice(0, semicolon)).trim();
  if (!/^[^\s"<>]+:[^\s"<>]+$/.test(uri)) throw new SipParseError(field, text, 'a URI');
  return { display: '', uri, params: semicolon < 0 ? new Map() : parseParams(text.slice(semicolon)) };
}

/** The text of a name-addr, always with angle brackets. */
export function formatNameAddr(address: NameAddr): string {
  const display = address.display === '' ? '' : `${address.display} `;
  return `${display}<${address.uri}>${formatParams(address.params)}`;
}

/**
 * The `tag` parameter of a From or To value, or `undefined`. Cheaper than {@link parseNameAddr}: it runs for every
 * message.
 */
export function tagOf(value: string): string | undefined {
  let from = openBracket(value);
  if (from >= 0) {
    from = value.indexOf('>', from);
    if (from < 0) return undefined;
  } else from = 0;
  for (let at = value.indexOf(';', from); at >= 0; at = value.indexOf(';', at + 1)) {
    let start = at + 1;
    while (value[start] === ' ' || value[start] === '\t') start += 1;
    if (value.slice(start, start + 3).toLowerCase() !== 'tag') continue;
    let equals = start + 3;
    while (value[equals] === ' ' || value[equals] === '\t') equals += 1;
    if (value[equals] !== '=') continue;
    let end = value.indexOf(';', equals);
    if (end < 0) end = value.length;
    return value.slice(equals + 1, end).trim();
  }
  return undefined;
}

function openBracket(text: string): number {
  return text.startsWith('<') ? 0 : indexOutside(text, '<');
}
