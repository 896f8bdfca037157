/** What a list answers, written from the specification alone: plain, slow, and of no code of the product. */

export type Row = Readonly<Record<string, unknown>>;

export interface Query {
  readonly filter?: unknown;
  readonly order?: readonly unknown[];
  readonly mask?: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly flat?: boolean;
  /** In a form that can be posted back: composites whole, whatever `flat` says. */
  readonly export?: boolean;
}

/** How one collection differs from another. */
export interface Rules {
  readonly aliases: Readonly<Record<string, string>>;
  /** What is left equal by an order: by id, or as it was. */
  readonly byId: boolean;
  /** What an export makes of a resource. */
  readonly importable?: (row: Row) => Row;
}

/** The page, and how many there are in all. */
export function answer(
  rows: readonly Row[],
  query: Query,
  rules: Rules,
): { readonly page: Row[]; readonly count: number } {
  const named = rows.map((row) => ({ row, seen: withAliases(row, rules) }));
  const kept = named.filter(({ seen }) => query.filter === undefined || holds(query.filter, seen));
  const order = query.order ?? [];
  const sorted = kept
    .map((each, index) => ({ ...each, index }))
    .toSorted((a, b) => {
      for (const entry of order) {
        const difference = compareBy(entry, a.seen, b.seen);
        if (difference !== 0) return difference;
      }
      return rules.byId && order.length > 0 ? compareText(String(a.row['id']), String(b.row['id'])) : a.index - b.index;
    });
  const { offset = 0, limit = Infinity } = query;
  const page = sorted.slice(offset, offset + limit).map(({ row }) => shaped(row, query, rules));
  return { page, count: kept.length };
}

/** One resource as mask and flat want it. */
export function shaped(
  row: Row,
  { mask, flat, export: isExport }: Pick<Query, 'mask' | 'flat' | 'export'>,
  { aliases, importable }: Rules,
): Row {
  const names = (mask ?? '').split(',').map((name) => name.trim());
  const paths = names.filter((name) => name !== '').map((name) => name.split('.'));
  const wanted = paths.map(([first = '', ...rest]) => [aliases[first] ?? first, ...rest]);
  const whole = isExport === true && importable !== undefined ? importable(row) : row;
  const masked = wanted.length === 0 ? whole : ((pick(whole, wanted) ?? {}) as Row);
  return flat === true && isExport !== true ? Object.fromEntries(flattened(masked, '')) : masked;
}

function withAliases(row: Row, { aliases }: Rules): Row {
  return { ...row, ...Object.fromEntries(Object.entries(aliases).map(([alias, name]) => [alias, row[name]])) };
}

/** A name below a list of objects is that name of each of them. */
function pick(value: unknown, paths: readonly (readonly string[])[]): unknown {
  if (paths.some((path) => path.length === 0)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => pick(item, paths)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const below = paths.filter(([first]) => first === key).map((path) => path.slice(1));
    const picked = below.length === 0 ? undefined : pick(item, below);
    return picked === undefined ? [] : [[key, picked]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function flattened(value: Row, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([key, item]): [string, unknown][] =>
    isObject(item) ? flattened(item, `${prefix}${key}.`) : [[prefix + key, item]],
  );
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key of each object of a list is the list of them. */
function at(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (Array.isArray(value)) {
    if (/^-?\d+$/.test(key)) return at(value.at(Number(key)), rest);
    const found = value.filter((item) => isObject(item) && Object.hasOwn(item, key)).map((item: Row) => item[key]);
    return found.length === 0 ? null : at(found, rest);
  }
  return isObject(value) && Object.hasOwn(value, key) ? at(value[key], rest) : null;
}

/** By code point. */
export function compareText(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const order = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The same text for equal values; the order of keys does not matter. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, n) => same(item, b[n]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

export function holds(filter: unknown, row: Row): boolean {
  return Array.isArray(filter) ? evaluate(filter, row) === true : meets(row, filter);
}

/** At a character that no backslash precedes. */
function split(text: string, separator: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(/\\[^]|[^]/gu)) {
    if (piece === separator) parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

const unescaped = (text: string): string => text.replaceAll(/\\([|%~;\\])/g, '$1');

/** A condition of the object form. */
function meets(value: unknown, condition: unknown): boolean {
  if (condition === null) return (value ?? null) === null;
  if (Array.isArray(condition)) {
    if (!Array.isArray(value)) return condition.some((wanted) => isOne(value, wanted));
    return condition.every((wanted) => value.some((item) => isOne(item, wanted)));
  }
  if (isObject(condition)) {
    return Object.entries(condition).every(([key, inner]) => meets(at(value, key.split('.')), inner));
  }
  if (Array.isArray(value)) {
    const wanted = typeof condition === 'string' ? split(condition, '|').map(unescaped) : [condition];
    return value.some((item) => wanted.some((each) => isOne(item, each)));
  }
  if (typeof value === 'boolean') return split(plain(condition), '|').some((part) => flag(part) === value);
  if (typeof value === 'number') return numberMeets(value, condition);
  return typeof value === 'string' && textMeets(value, condition);
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A value as it is, numbers and flags also as texts. */
function isOne(value: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'object' || typeof value === 'object') return same(value, wanted);
  if (typeof value === 'boolean') return flag(wanted) === value;
  if (typeof value === 'number')
    return typeof wanted !== 'boolean' && plain(wanted).trim() !== '' && value === Number(wanted);
  return value === plain(wanted);
}

function flag(condition: unknown): boolean | undefined {
  const word = plain(condition).toLowerCase();
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : undefined;
}

function numberMeets(value: number, condition: unknown): boolean {
  if (typeof condition !== 'string') return value === condition;
  return split(condition, '|')
    .flatMap((part) => split(part, ';'))
    .some((part) => {
      const [from = '', to] = part.split('~');
      if (to === undefined) return from.trim() !== '' && value === Number(from);
      return (from === '' || value >= Number(from)) && (to === '' || value <= Number(to));
    });
}

function textMeets(value: string, condition: unknown): boolean {
  if (typeof condition !== 'string') return value === plain(condition);
  const expression = /^\/reg\/(i\/)?(.*)$/su.exec(condition);
  if (expression) return new RegExp(expression[2] ?? '', expression[1] === undefined ? 'su' : 'isu').test(value);
  return split(condition, '|').some((part) => {
    const quoted = split(part, '%').map((each) => unescaped(each).replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
    return new RegExp(`^${quoted.join('[^]*')}$`, 'u').test(value);
  });
}

type Args = readonly unknown[];
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isText = (value: unknown): value is string => typeof value === 'string';
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const compares =
  (accept: (order: number) => boolean) =>
  ([a, b]: Args): boolean => {
    if (isNumber(a) && isNumber(b)) return accept(a - b);
    return isText(a) && isText(b) && accept(compareText(a, b));
  };
const texts =
  (test: (a: string, b: string) => unknown) =>
  ([a, b]: Args): unknown =>
    isText(a) && isText(b) ? test(a, b) : false;
const like = (flags: string) =>
  texts((text, pattern) => {
    const source = pattern.replaceAll(/\\(.)|[.*+?^${}()|[\]\\/%_]/gsu, (found, escaped: string | undefined) => {
      if (escaped !== undefined) return escaped.replace(/[.*+?^${}()|[\]\\/]/u, '\\$&');
      return found === '%' ? '[^]*' : found === '_' ? '[^]' : `\\${found}`;
    });
    return new RegExp(`^${source}$`, flags).test(text);
  });
const ofNumbers =
  (compute: (a: number, b: number) => number | null) =>
  (args: Args): unknown =>
    args.every(isNumber)
      ? args.slice(1).reduce((a: number | null, b) => (a === null ? null : compute(a, b)), args[0] ?? 0)
      : null;
const ofText =
  (compute: (text: string) => unknown) =>
  ([a]: Args): unknown =>
    isText(a) ? compute(a) : null;
const ofNumber =
  (compute: (value: number) => unknown) =>
  ([a]: Args): unknown =>
    isNumber(a) ? compute(a) : null;
const DAY = 86_400_000;

/** The functions of the decisions by their first names and synonyms. */
const FUNCTIONS: readonly (readonly [names: string, apply: (args: Args) => unknown])[] = [
  ['and &&', (args) => args.every((arg) => arg === true)],
  ['or ||', (args) => args.some((arg) => arg === true)],
  ['not !', ([a]) => a !== true],
  ['true', () => true],
  ['false', () => false],
  ['equal == = eq', ([a, b]) => same(a, b)],
  ['not_equal != <> ne', ([a, b]) => !same(a, b)],
  ['less < lt', compares((order) => order < 0)],
  ['less_or_equal <= le lte', compares((order) => order <= 0)],
  ['greater > gt', compares((order) => order > 0)],
  ['greater_or_equal >= ge gte', compares((order) => order >= 0)],
  ['between', ([a, b, c]) => compares((n) => n >= 0)([a, b]) && compares((n) => n <= 0)([a, c])],
  ['in one_of', ([a, b]) => a !== null && list(b).some((item) => same(item, a))],
  ['is_null null', ([a]) => a === null],
  ['is_empty', ([a]) => a === null || a === '' || (Array.isArray(a) ? a.length === 0 : isObject(a) && same(a, {}))],
  ['like %', like('u')],
  ['ilike', like('iu')],
  ['regexp match', texts((text, pattern) => new RegExp(pattern, 'su').test(text))],
  ['iregexp', texts((text, pattern) => new RegExp(pattern, 'isu').test(text))],
  ['starts_with', texts((a, b) => a.startsWith(b))],
  ['ends_with', texts((a, b) => a.endsWith(b))],
  ['contains', texts((a, b) => a.includes(b))],
  ['lower', ofText((text) => text.toLowerCase())],
  ['upper', ofText((text) => text.toUpperCase())],
  ['length', ofText((text) => Array.from(text).length)],
  ['concat', (args) => args.map((arg) => (isText(arg) ? arg : '')).join('')],
  [
    'substr',
    ([a, from, many]) =>
      isText(a)
        ? Array.from(a)
            .slice(Number(from), Number(from) + Number(many ?? 1e9))
            .join('')
        : null,
  ],
  [
    'contains_all includes',
    ([a, b]) => Array.isArray(a) && Array.isArray(b) && b.every((item) => a.some((each) => same(each, item))),
  ],
  ['contains_any overlaps', ([a, b]) => list(a).some((item) => list(b).some((each) => same(each, item)))],
  ['size', ([a]) => (Array.isArray(a) ? a.length : null)],
  ['add +', ofNumbers((a, b) => a + b)],
  ['sub -', ofNumbers((a, b) => a - b)],
  ['mul *', ofNumbers((a, b) => a * b)],
  ['div /', ofNumbers((a, b) => (b === 0 ? null : a / b))],
  ['mod', ofNumbers((a, b) => (b === 0 ? null : a % b))],
  ['abs', ofNumber(Math.abs)],
  ['round', ofNumber((value) => Math.sign(value) * Math.round(Math.abs(value)))],
  ['floor', ofNumber(Math.floor)],
  ['ceil', ofNumber(Math.ceil)],
  ['ts', ofText((text) => Date.parse(text))],
  ['year', ofNumber((time) => new Date(Math.floor(time)).getUTCFullYear())],
  ['month', ofNumber((time) => new Date(Math.floor(time)).getUTCMonth() + 1)],
  ['day', ofNumber((time) => new Date(Math.floor(time)).getUTCDate())],
  ['hour', ofNumber((time) => new Date(Math.floor(time)).getUTCHours())],
  ['trunc', ([, time]) => (isNumber(time) ? Math.floor(time / DAY) * DAY : null)],
  ['if', ([a, b, c]) => (a === true ? b : c)],
  ['coalesce', (args) => args.find((arg) => arg !== null) ?? null],
];
export const NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  FUNCTIONS.map(([names]) => [names.split(' ')[0] ?? '', names.split(' ')]),
);
const BY_NAME = new Map(FUNCTIONS.flatMap(([names, apply]) => names.split(' ').map((name) => [name, apply] as const)));

/** An expression in prefix notation. */
export function evaluate(expression: unknown, row: Row): unknown {
  if (!Array.isArray(expression)) return expression ?? null;
  const [name, ...args] = expression as [string, ...unknown[]];
  const word = name.toLowerCase();
  if (['property', 'prop', 'field'].includes(word))
    return at(
      row,
      args.flatMap((arg) => String(arg).split('.')),
    );
  if (word === 'const' || word === 'value') return args[0] ?? null;
  if (word === 'list') return args.map((arg) => evaluate(arg, row));
  const apply = BY_NAME.get(word);
  if (apply === undefined) throw new Error(`no function ${name}`);
  return apply(args.map((arg) => evaluate(arg, row)));
}

function compareBy(entry: unknown, a: Row, b: Row): number {
  const [expression, descending] = keyOf(entry);
  const [left, right] = [evaluate(expression, a), evaluate(expression, b)];
  return compareValues(left, right) * (descending ? -1 : 1);
}

function keyOf(entry: unknown): readonly [expression: unknown, descending: boolean] {
  if (typeof entry === 'string') return [['property', entry], false];
  if (Array.isArray(entry)) {
    const [direction, expression] = entry as unknown[];
    return [typeof expression === 'string' ? ['property', expression] : expression, direction === 'desc'];
  }
  const [[name, direction] = ['', '']] = Object.entries(entry as Record<string, string>);
  return [['property', name], direction === 'desc'];
}

/** Numbers before texts, then what has no order, null last. */
export function compareValues(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return a - b;
  if (isText(a) && isText(b)) return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return rank(a) - rank(b);
}

function rank(value: unknown): number {
  if (isNumber(value)) return 0;
  if (isText(value)) return 1;
  return value === null ? 3 : 2;
}
