/**
 * The value of a header that appears several times. drachtio-srf joins values of one name with commas, which phones
 * misread in a challenge (RFC 3261 section 7.3.1 names these headers as the exception); it passes line ends on as they
 * are, so each further value brings its own header line. Only for values made here, never for what came from outside.
 */
export function repeatedHeader(name: string, values: readonly string[]): string {
  return values.join(`\r\n${name}: `);
}
