/** Comparison and arithmetic in memory, with the results of the SQL functions of the migration `model`. */

/** Compares by code point, as PostgreSQL's collation "C" does in UTF-8; `<` on strings compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    // Surrogates belong to the highest code points.
    const isLeftHigh = left >= 0xd800 && left <= 0xdfff;
    const isRightHigh = right >= 0xd800 && right <= 0xdfff;
    if (isLeftHigh !== isRightHigh) return isLeftHigh ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

type Item = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Equality of JSON values; the order of keys does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** A canonical text: the same for equal JSON values. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value === undefined ? null : value);
  const entries = Object.entries(value).toSorted(([a], [b]) => compareText(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}

/**
 * One key of a JSON value, like `model.through`: a number is an array index, from the end when negative. Any other key
 * of an array is the array of that key of each object in it; undefined when no object has it.
 */
export function keyOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    if (/^[+-]?\d{1,9}$/.test(key)) return value.at(Number(key));
    const found = value.filter((item) => isObject(item) && Object.hasOwn(item, key)).map((item: Item) => item[key]);
    return found.length === 0 ? undefined : found;
  }
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Beyond these, PostgreSQL reports overflow or underflow: the result is null. */
const HUGE = 1e150;
const TINY = 1e-150;
const MODULO_RANGE = 1e15;

function isModerate(value: number): boolean {
  return Math.abs(value) <= HUGE && Math.abs(value) >= TINY;
}

export function add(a: number, b: number): number | null {
  return Math.abs(a) <= HUGE && Math.abs(b) <= HUGE ? a + b : null;
}

export function subtract(a: number, b: number): number | null {
  return Math.abs(a) <= HUGE && Math.abs(b) <= HUGE ? a - b : null;
}

export function multiply(a: number, b: number): number | null {
  if (a === 0 || b === 0) return 0;
  return isModerate(a) && isModerate(b) ? a * b : null;
}

export function divide(a: number, b: number): number | null {
  if (b === 0) return null;
  if (a === 0) return 0;
  return isModerate(a) && isModerate(b) ? a / b : null;
}

/** The remainder has the sign of `a`. */
export function modulo(a: number, b: number): number | null {
  if (b === 0) return null;
  if (a === 0) return 0;
  // SQL has no -0.
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return (a % b) + 0;
  const inRange = [a, b].every((each) => Math.abs(each) <= MODULO_RANGE && Math.abs(each) >= 1 / MODULO_RANGE);
  return inRange ? a - b * Math.trunc(a / b) : null;
}

/** Rounds half away from zero. */
export function round(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

/** Substring from a zero-based position; characters are code points. */
export function substring(text: string, start: number, length = Infinity): string {
  const from = Math.max(0, Math.floor(start));
  return Array.from(text)
    .slice(from, from + Math.max(0, Math.floor(length)))
    .join('');
}

/**
 * The simple case mappings (Unicode's UnicodeData.txt, as in PostgreSQL) of characters whose full mapping has several
 * characters: first of a range, length of the range, target.
 */
const SIMPLE_UPPER: readonly (readonly [first: number, last: number, distance: number])[] = [
  [0x1f80, 0x1f87, 8],
  [0x1f90, 0x1f97, 8],
  [0x1fa0, 0x1fa7, 8],
  [0x1fb3, 0x1fb3, 9],
  [0x1fc3, 0x1fc3, 9],
  [0x1ff3, 0x1ff3, 9],
];

function simpleCase(character: string, to: 'toLowerCase' | 'toUpperCase'): string {
  if (to === 'toLowerCase') return character === '\u0130' ? 'i' : character;
  const code = character.codePointAt(0) ?? 0;
  const range = SIMPLE_UPPER.find(([first, last]) => code >= first && code <= last);
  return range === undefined ? character : String.fromCodePoint(code + range[2]);
}

/** Changes the case character by character, as PostgreSQL does: a text keeps its length. */
export function changeCase(text: string, to: 'toLowerCase' | 'toUpperCase'): string {
  if (/^[\0-\x7f]*$/.test(text)) return text[to]();
  return Array.from(text, (character) => {
    const changed = character[to]();
    return Array.from(changed).length === 1 ? changed : simpleCase(character, to);
  }).join('');
}
