/** A regular expression as a tree, without constructs that need backtracking. */

/** A range of code points, both ends included. */
export type Range = readonly [from: number, to: number];

export type Regex =
  | { readonly kind: 'set'; readonly ranges: readonly Range[] }
  | { readonly kind: 'assertion'; readonly of: 'start' | 'end' | 'word-boundary' | 'no-word-boundary' }
  | { readonly kind: 'sequence'; readonly items: readonly Regex[] }
  | { readonly kind: 'choice'; readonly items: readonly Regex[] }
  | { readonly kind: 'repeat'; readonly item: Regex; readonly min: number; readonly max: number };

export const LAST_CODE_POINT = 0x10ffff;
export const ANY: Regex = { kind: 'set', ranges: [[0, LAST_CODE_POINT]] };
export const DIGIT: readonly Range[] = [[0x30, 0x39]];
export const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** Tab, line feed, vertical tab, form feed, carriage return, space. */
export const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
];

export function isWord(codePoint: number): boolean {
  return WORD.some(([from, to]) => codePoint >= from && codePoint <= to);
}

/** Sorted, without overlaps. */
export function normalise(ranges: readonly Range[]): Range[] {
  const result: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

export function complement(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  let next = 0;
  for (const [from, to] of normalise(ranges)) {
    if (from > next) result.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST_CODE_POINT) result.push([next, LAST_CODE_POINT]);
  return result;
}

/** Wider ranges fold case in common scripts only, so that a pattern stays cheap. */
const WIDE = 1024;
const LAST_COMMON_CASED = 0x587;

/** Adds the other case of every character that has exactly one. */
export function withBothCases(ranges: readonly Range[]): Range[] {
  const result: Range[] = [...ranges];
  for (const [from, to] of ranges) {
    const end = to - from > WIDE ? Math.min(to, LAST_COMMON_CASED) : to;
    for (let codePoint = from; codePoint <= end; codePoint += 1) {
      for (const variant of caseVariants(codePoint)) result.push([variant, variant]);
    }
  }
  return normalise(result);
}

function caseVariants(codePoint: number): number[] {
  const text = String.fromCodePoint(codePoint);
  return [text.toLowerCase(), text.toUpperCase()]
    .map((variant) => Array.from(variant))
    .filter((variant) => variant.length === 1)
    .map(([variant = text]) => variant.codePointAt(0) ?? codePoint)
    .filter((variant) => variant !== codePoint);
}
