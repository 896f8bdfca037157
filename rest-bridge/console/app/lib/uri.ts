/** SIP URIs as people read them. */

/** Name and number or login of an address such as `"Alice" <sip:101@demo.local>`. */
export function party(uri: string): string {
  const [, name = '', address = uri] = /^\s*(?:"?([^"<]*?)"?\s*)?<([^>]*)>/.exec(uri) ?? [];
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
