/** Reads headers of SIP messages as they were on the wire. */

const patterns = new Map<string, RegExp>();

/**
 * The first value of a header, without spaces around it; undefined without one.
 * @param compact its compact form (RFC 3261 section 7.3.3)
 */
export function rawHeader(text: string, name: string, compact = name): string | undefined {
  let pattern = patterns.get(name);
  if (pattern === undefined) {
    // The body follows an empty line: a lazy match ends there.
    pattern = new RegExp(`^(?:[^\\r\\n]+\\r\\n)*?(?:${name}|${compact})[ \\t]*:[ \\t]*([^\\r\\n]*)`, 'i');
    patterns.set(name, pattern);
  }
  return pattern.exec(text)?.[1]?.trimEnd();
}
