/**
 * `Content-Disposition: attachment` with a file name of any characters (RFC 6266 section 4, RFC 8187 section 3.2): an
 * ASCII approximation, and the whole name percent-encoded.
 */
export function attachment(name: string): string {
  const ascii = name.replaceAll(/[^ -~]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
