/** Prints regular expressions for PostgreSQL. */
import { complement, LAST_CODE_POINT, type Range, type Regex } from './ast.ts';

const ASSERTIONS = { start: '^', end: '$', 'word-boundary': '\\y', 'no-word-boundary': '\\Y' } as const;

/**
 * The tree as an "advanced regular expression" of PostgreSQL. Classes are expanded and special characters are escaped
 * by number, so that neither locale nor quoting rules matter.
 */
export function printRegex(regex: Regex): string {
  switch (regex.kind) {
    case 'set':
      return printSet(regex.ranges);
    case 'assertion':
      return ASSERTIONS[regex.of];
    case 'sequence':
      return regex.items.map((item) => (item.kind === 'choice' ? group(item) : printRegex(item))).join('');
    case 'choice':
      return regex.items.map(printRegex).join('|');
    case 'repeat':
      return `${regex.item.kind === 'set' ? printRegex(regex.item) : group(regex.item)}${bounds(regex.min, regex.max)}`;
    default:
      return regex satisfies never;
  }
}

function group(regex: Regex): string {
  return `(?:${printRegex(regex)})`;
}

function bounds(min: number, max: number): string {
  if (max === Infinity) {
    if (min === 0) return '*';
    return min === 1 ? '+' : `{${min},}`;
  }
  return `{${min},${max}}`;
}

function printSet(ranges: readonly Range[]): string {
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined && only[0] === only[1]) return character(only[0]);
  const last = ranges.at(-1);
  if (last?.[1] !== LAST_CODE_POINT) return `[${ranges.map(printRange).join('')}]`;
  const others = complement(ranges);
  return others.length === 0 ? '.' : `[^${others.map(printRange).join('')}]`;
}

function printRange([from, to]: Range): string {
  return from === to ? character(from) : `${character(from)}-${character(to)}`;
}

function character(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  if (codePoint > 0xffff) return `\\U${codePoint.toString(16).padStart(8, '0')}`;
  return /[A-Za-z0-9]/.test(text) ? text : `\\u${codePoint.toString(16).padStart(4, '0')}`;
}
