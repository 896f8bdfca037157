/** Scanners for header text, written by hand for speed: they run for every message. */

/**
 * Splits at a separator outside of quoted strings and angle brackets. Quoted strings can hold any character and
 * backslash escapes (RFC 3261 section 25.1).
 */
export function splitOutside(text: string, separator: string): string[] {
  if (!text.includes(separator)) {
    const only = text.trim();
    return only === '' ? [] : [only];
  }
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  let angle = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted) {
      if (c === '\\') i += 1;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === '<') angle = true;
    else if (c === '>') angle = false;
    else if (c === separator && !angle) {
      const part = text.slice(start, i).trim();
      if (part !== '') parts.push(part);
      start = i + 1;
    }
  }
  const last = text.slice(start).trim();
  if (last !== '') parts.push(last);
  return parts;
}

/** Index of `wanted` outside of quoted strings and angle brackets, or -1. */
export function indexOutside(text: string, wanted: string, from = 0): number {
  let quoted = false;
  let angle = false;
  for (let i = from; i < text.length; i += 1) {
    const c = text[i];
    if (quoted) {
      if (c === '\\') i += 1;
      else if (c === '"') quoted = false;
    } else if (c === wanted && !angle) return i;
    else if (c === '"') quoted = true;
    else if (c === '<') angle = true;
    else if (c === '>') angle = false;
  }
  return -1;
}

/** Reads parameters `;name=value;flag`. `text` begins with `;` or is empty. Names become lower case. */
export function parseParams(text: string): Map<string, string | undefined> {
  const params = new Map<string, string | undefined>();
  for (const part of splitOutside(text, ';')) {
    const equals = part.indexOf('=');
    if (equals < 0) params.set(part.toLowerCase(), undefined);
    else params.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
  }
  return params;
}

/** The inverse of {@link parseParams}: `;name=value;flag`. */
export function formatParams(params: ReadonlyMap<string, string | undefined>): string {
  let text = '';
  for (const [name, value] of params) text += value === undefined ? `;${name}` : `;${name}=${value}`;
  return text;
}

/**
 * Reads a decimal number without sign. (`Number()` would also accept `1e3`, ` 7 ` and `0x10`.)
 * @returns undefined when the text is not such a number, or the number exceeds `max`.
 */
export function decimal(text: string, max: number): number | undefined {
  if (text.length === 0 || text.length > 16) return undefined;
  let value = 0;
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value <= max ? value : undefined;
}
