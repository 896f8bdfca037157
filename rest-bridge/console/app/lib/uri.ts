/** SIP URIs as people read them. */

/** RFC 3261 section 25.1: a name, quoted or not, and the URI. */
const ADDRESS = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^<"]*?))\s*<([^>]*)>/;

/** Name and number or login of an address such as `"Alice" <sip:101@demo.local>`. */
export function party(uri: string): string {
  const { name, address } = parts(uri);
  const user = /^(?:sips?|tel):([^@;?]*)/.exec(address)?.[1] ?? address;
  const shown = decoded(user) || address;
  return name === '' || name === shown ? shown : `${name} (${shown})`;
}

/** Name of an address; empty for one without. */
export function nameOf(uri: string): string {
  return parts(uri).name;
}

/** Number or login of an address; empty for one without. */
export function userOf(uri: string): string {
  const [, user = '', number = user] = /^(?:sips?:([^@;?]*)@|tel:([^;?]*))/.exec(parts(uri).address) ?? [];
  return decoded(number);
}

function parts(uri: string): { readonly name: string; readonly address: string } {
  const [, quoted, token = '', address = uri] = ADDRESS.exec(uri) ?? [];
  return { name: quoted?.replaceAll(/\\(.)/g, '$1') ?? token, address };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
