/** Suggestions for syntax of other languages in expressions. */
import type { ValueType } from '../values.ts';

export const NO_REGULAR_EXPRESSIONS = 'use startsWith, endsWith, contains or ==';

/** Names that the scenario has. */
export interface Declared {
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly records: ReadonlyMap<string, Readonly<Record<string, ValueType>>>;
}

export const DEFAULT = 'write x == "" ? other : x';
export const RANGE = 'write 1 <= x && x <= 5';
export const CONDITION = 'write condition ? a : b';
const ASSIGN = 'and give the value to a variable by set';

/**
 * Patterns of foreign syntax, tried at the parser's error (sticky). In suggestions `$1` is the first group.
 */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/===/y, 'write == to compare'],
  [/!==/y, 'write != to compare'],
  [/<>/y, 'write != to compare'],
  [/=~|~=/y, NO_REGULAR_EXPRESSIONS],
  [/\+=|\+\+/y, `write + 1, ${ASSIGN}`],
  [/-=|--/y, `write - 1, ${ASSIGN}`],
  [/(?<=\.(?:filter|map)\(\s*\(?\s*\w+\s*\)?\s*)=>/y, ''],
  [/=>/y, 'write list.map(x, x + 1)'],
  [/(?<=[-+])=/y, `write + 1 or - 1, ${ASSIGN}`],
  [/=(?!=)/y, 'write == to compare'],
  [/and\b/iy, 'write && for "and"'],
  [/or\b/iy, 'write || for "or"'],
  [/not\s+in\b/iy, 'write !(x in list)'],
  [/not\b/iy, 'write ! for "not"'],
  [/is\b/iy, 'write == to compare'],
  [/(?:matches|like)\b/iy, NO_REGULAR_EXPRESSIONS],
  [/(?:typeof|instanceof)\b/y, 'write type(x) == string'],
  [/new\b/y, 'the time is now, e.g. now.getHours()'],
  [/(?:if|then|else|unless)\b/iy, CONDITION],
  [/\*\*/y, 'write x * x'],
  [/\?\?/y, DEFAULT],
  [/\?\./y, 'write has(a.b) ? a.b : something'],
  [/\?\s*:/y, DEFAULT],
  [/\.\.\./y, 'write list + [x]'],
  [/\.\./y, RANGE],
  [/(?<![\w.])\.(\d)/y, 'write 0.$1'],
  [/(?<=\d)_/y, 'write the number without _'],
  [/'(?=')|(?<=')'/y, 'put the text between double quotes'],
  [/[fF](?=["'])/y, 'write "text " + name'],
  [/`/y, 'write a text in quotes'],
  [/\$\{/y, 'write the expression itself, without ${ }'],
  [/\$(?=\w)/y, 'write the name itself, without $'],
  [/\{\{/y, 'write the expression itself, without {{ }}'],
  [/\|\s*default\b/y, DEFAULT],
  [/\|(?!\|)/y, 'there are no filters: write upperAscii() as name.upperAscii(), size as size(name)'],
  [/&(?!&)/y, 'write + to join texts, && for "and"'],
  [/\//y, `there are no regular expressions: ${NO_REGULAR_EXPRESSIONS}`],
  [/(?<=\[[^\]]*):/y, 'write substring(from, to)'],
  [/(?<=\w\s*\.\s*)["']/y, 'write + to join texts'],
  [/(?<=\(\s*\w+\s*),(?=[^)]*\)\s*=>)/y, 'a script block can do it'],
];

/** Equivalents of methods with `=>`. */
const ARROWS: Readonly<Record<string, string>> = {
  map: 'list.map(x, x + 1)',
  filter: 'list.filter(x, x > 1)',
  some: 'list.exists(x, x > 1)',
  every: 'list.all(x, x > 1)',
  find: 'list.filter(x, x > 1)[0]',
};

/** The suggestion for foreign syntax at a position. */
export function foreignAt(at: number, source: string, declared: Declared): string | undefined {
  for (const [pattern, suggestion] of FOREIGN) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (!found) continue;
    if (found[0] === '=>') {
      const method = /\.(\w+)\(\s*\(?\s*\w+\s*\)?\s*$/.exec(source.slice(0, at))?.[1] ?? 'map';
      return Object.hasOwn(ARROWS, method) ? `write ${ARROWS[method]}` : 'a script block can do it';
    }
    if (found[0] === '??') return defaultFor(source.slice(0, at), declared);
    return suggestion.replace('$1', found[1] ?? '');
  }
  return undefined;
}

/** `data.city ?? "Berlin"`, `name ?? "nobody"` */
function defaultFor(before: string, { records }: Declared): string {
  const name = /([A-Za-z_][\w.]*)\s*$/.exec(before)?.[1];
  if (name === undefined) return DEFAULT;
  const [record = '', field] = name.split('.');
  // Results of blocks always exist.
  const isThere = field === undefined || records.get(record)?.[field] !== undefined;
  return isThere ? `write ${name} == "" ? other : ${name}` : `write has(${name}) ? ${name} : other`;
}
