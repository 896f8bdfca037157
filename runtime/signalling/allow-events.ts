/** Event packages of an Allow-Events header (RFC 6665 section 8.2.2), lower case; empty without a header. */
export function parseAllowEvents(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((event) => event.trim().toLowerCase())
    .filter((event) => event !== '');
}
