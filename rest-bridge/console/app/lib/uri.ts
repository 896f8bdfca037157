/** SIP URIs as people read them. */

/** RFC 3261 section 25.1: a name, quoted or not, and the URI. */
const ADDRESS = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<"]*?))\s*<([^>]*)>/;

/** Name and number or login of an address such as `"Alice" <sip:101@demo.local>`. */
export function party(uri: string): string {
  const [, quoted, token = '', address = uri] = ADDRESS.exec(uri) ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
  const user = /^(?:sips?|tel):([^@;?]*)/.exec(address)?.[1] ?? address;
  const shown = decoded(user) || address;
  return name === '' || name === shown ? shown : `${name} (${shown})`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
