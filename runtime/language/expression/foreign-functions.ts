/** Functions of expressions, and their equivalents for functions of other languages. */
import { suggestName } from '../problem.ts';

export const FUNCTIONS: readonly string[] = [
  'size',
  'string',
  'int',
  'double',
  'bool',
  'has',
  'type',
  'startsWith',
  'endsWith',
  'contains',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'join',
  'substring',
  'indexOf',
  'lastIndexOf',
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'timestamp',
  'duration',
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'format',
  'money',
  'round',
];

/** Methods of a value: `name.contains("a")`. */
const METHODS: ReadonlySet<string> = new Set(
  `startsWith endsWith contains lowerAscii upperAscii trim split join substring indexOf lastIndexOf all exists map filter
   getFullYear getMonth getDate getDayOfWeek getHours getMinutes getSeconds`.split(/\s+/),
);

/** JavaScript objects with functions. */
export const OBJECTS: ReadonlySet<string> = new Set(['Math', 'JSON', 'Object', 'Array', 'Number', 'String', 'console']);

const SCRIPT = 'a script block can do it';
const DEFAULT = 'write x == "" ? other : x, or has(a.b) ? a.b : other';
const EMPTY = 'write x == "", or size(x) == 0';
const MATCH = 'use startsWith, endsWith, contains or ==';

/** The same function under another name, in lower case. */
const RENAMED: Readonly<Record<string, string>> = {
  len: 'size',
  length: 'size',
  count: 'size',
  str: 'string',
  tostring: 'string',
  text: 'string',
  number: 'int',
  parseint: 'int',
  trunc: 'int',
  float: 'double',
  parsefloat: 'double',
  includes: 'contains',
  upper: 'upperAscii',
  ucase: 'upperAscii',
  lower: 'lowerAscii',
  lcase: 'lowerAscii',
  touppercase: 'upperAscii',
  tolowercase: 'lowerAscii',
  some: 'exists',
  any: 'exists',
  every: 'all',
  getday: 'getDayOfWeek',
  gettime: 'int',
  toisostring: 'string',
  isoformat: 'string',
  strip: 'trim',
  substr: 'substring',
  slice: 'substring',
  left: 'substring',
  right: 'substring',
  mid: 'substring',
};

/** Functions with an equivalent of another form, in lower case. */
const OTHERWISE: Readonly<Record<string, string>> = {
  push: 'write list + [item]',
  append: 'write list + [item]',
  concat: 'write one + other',
  concatenate: 'write one + other',
  if: 'write condition ? a : b',
  iif: 'write condition ? a : b',
  default: DEFAULT,
  coalesce: DEFAULT,
  ifnull: DEFAULT,
  nvl: DEFAULT,
  between: 'write 1 <= x && x <= 5',
  range: 'a loop counts: loop: { times: 5 }',
  first: 'write list[0]',
  last: 'write list[size(list) - 1]',
  at: 'write list[0], or text.substring(0, 1)',
  get: 'write map["name"]',
  charat: 'write text.substring(0, 1)',
  max: 'write a > b ? a : b',
  min: 'write a < b ? a : b',
  abs: 'write x < 0 ? -x : x',
  floor: 'int(x) leaves out what follows the point; round(x) rounds',
  ceil: 'int(x) leaves out what follows the point; round(x) rounds',
  isempty: EMPTY,
  empty: EMPTY,
  isblank: EMPTY,
  isnull: EMPTY,
  xor: 'write a != b',
  not: 'write !x',
  and: 'write a && b',
  or: 'write a || b',
  test: MATCH,
  match: MATCH,
  search: MATCH,
  regex: MATCH,
  regexmatch: MATCH,
  today: 'the time is now, e.g. now.getHours()',
  date: 'the time is now, e.g. now.getHours()',
  strftime: "write format(now, 'long time'), or a part: now.getHours()",
  tolocalestring: "write format(x, 'decimal'), or of a time format(x, 'long time')",
  tofixed: 'write round(x, 2)',
  pow: 'write x * x',
  haskey: 'write "name" in map',
  hasownproperty: 'write "name" in map',
};
const BY_SCRIPT: ReadonlySet<string> = new Set(
  `replace replaceall padstart padend repeat reverse sort sum avg average reduce find findindex flat keys values entries random
   uuid isnan localecompare stringify parse fromentries codepointat charcodeat sqrt log exp sin cos`.split(/\s+/),
);

/** The suggestion for an unknown function, or for a method called as a function. */
export function insteadOfFunction(name: string): string | undefined {
  if (METHODS.has(name)) return `write value.${name}(...)`;
  return FUNCTIONS.includes(name) ? undefined : instead(name);
}

/** The suggestion for an unknown method of a CEL type. */
export function insteadOfMethod(name: string, owner: string): string | undefined {
  const isList = /^list\b/.test(owner);
  if (isList && /^(?:includes|contains|indexOf|has)$/.test(name)) return 'write x in list';
  if (isList && name === 'slice') return SCRIPT;
  return FUNCTIONS.includes(name) ? undefined : instead(name);
}

function instead(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(OTHERWISE, lower)) return OTHERWISE[lower];
  if (BY_SCRIPT.has(lower)) return SCRIPT;
  if (Object.hasOwn(RENAMED, lower)) return `here it is "${RENAMED[lower]}"`;
  return suggestName(name, FUNCTIONS) ?? 'a script block computes what expressions cannot';
}
