/** SIP URIs as people read them. */

/** RFC 3261 section 25.1: a name, quoted or not, and the URI. */
const ADDRESS = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<"]*?))\s*<([^>]*)>/;

/** Name and number or login of an address such as `"Alice" <sip:101@demo.local>`. */
export function party(uri: string): string {
  const [, quoted, token = '', address = uri] = ADDRESS.exec(uri) ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
  const shown = userAt(address) || address;
  return name === '' || name === shown ? shown : `${name} (${shown})`;
}

/** Number or login of an address; empty for one without. */
export function userOf(uri: string): string {
  const [, , , address = uri] = ADDRESS.exec(uri) ?? [];
  return /^(?:sips?|tel):/.test(address) ? userAt(address) : '';
}

function userAt(address: string): string {
  return decoded(/^(?:sips?|tel):([^@;?]*)/.exec(address)?.[1] ?? address);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
