/** A plain, slow list: filter, order, paging and mask as the specification says them, sharing no code with the product. */
import type { Random } from '../../model/support/random.ts';

export type Row = Record<string, unknown>;

/** A filter as it is sent, and what it means. */
export interface Condition {
  readonly json: unknown;
  readonly holds: (row: Row) => boolean;
}

export interface Order {
  readonly json: unknown;
  readonly key: (row: Row) => unknown;
  readonly descending: boolean;
}

export const PROPERTIES = [
  { name: 'name', data_type: 'string', index: true },
  { name: 'state', data_type: 'enum', items: ['new', 'open', 'done'] },
  { name: 'age', data_type: 'integer', index: true },
  { name: 'at', data_type: 'long' },
  { name: 'score', data_type: 'float' },
  { name: 'vip', data_type: 'boolean' },
  { name: 'tags', data_type: 'string', multi: true },
  { name: 'sizes', data_type: 'integer', multi: true },
  { name: 'extra', data_type: 'any' },
];

const NAMES = ['Ann', 'ann', 'Bob', 'Bobby', 'Zoë', '', 'a_b', 'a%b', '50|50', 'Ω', '😀 smile', "O'Neil; drop", '\\x'];
const TAGS = ['x', 'y', 'z', 'a|b', ''];
const AGES = [0, 1, 2, 17, 18, 40, -5, 2_147_483_647];
const SCORES = [0, -0.5, 1.25, 1e10, 40];
const TIMES = [0, 1_700_000_000_000, 1_800_000_000_000, -1];

export function randomRow(random: Random, id: string): Row {
  const maybe = <T>(value: T): T | null => (random.chance(0.2) ? null : value);
  const some = <T>(values: readonly T[]): T[] => values.filter(() => random.chance(0.4));
  return {
    id,
    name: maybe(random.pick(NAMES)),
    state: maybe(random.pick(['new', 'open', 'done'])),
    age: maybe(random.pick(AGES)),
    at: maybe(random.pick(TIMES)),
    score: maybe(random.pick(SCORES)),
    vip: maybe(random.chance(0.5)),
    tags: maybe(some(TAGS)),
    sizes: maybe(some([1, 2, 40])),
    extra: maybe({
      city: random.pick(['Rome', 'Oslo']),
      floor: random.pick([1, 2, '3']),
      deep: { on: random.chance(0.5) },
    }),
  };
}

const NUMERIC = ['age', 'at', 'score'] as const;
const TEXTUAL = ['name', 'state', 'id'] as const;

const text = (row: Row, name: string): string | undefined => {
  const value = row[name];
  return typeof value === 'string' ? value : undefined;
};
const number = (row: Row, name: string): number | undefined => {
  const value = row[name];
  return typeof value === 'number' ? value : undefined;
};
const list = (row: Row, name: string): readonly unknown[] | undefined => {
  const value = row[name];
  return Array.isArray(value) ? value : undefined;
};

/** By code point. */
function compareText(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const order = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** `%` in a text of the object form. */
function likeHolds(value: string, parts: readonly string[]): boolean {
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('[^]*');
  return new RegExp(`^${pattern}$`, 'u').test(value);
}

const escape = (literal: string): string => literal.replaceAll(/[|%~;\\]/g, '\\$&');

/** One condition on one field in the object form. */
function objectCondition(random: Random): { name: string; json: unknown; holds: (row: Row) => boolean } {
  const kind = random.below(9);
  const name = random.pick(TEXTUAL);
  const amount = random.pick(NUMERIC);
  switch (kind) {
    case 0: {
      const wanted = random.pick(NAMES.filter((each) => !each.startsWith('/reg/')));
      return { name, json: escape(wanted), holds: (row) => text(row, name) === wanted };
    }
    case 1: {
      const wanted = [random.pick(NAMES), random.pick(NAMES)];
      return {
        name,
        json: wanted.map(escape).join('|'),
        holds: (row) => wanted.includes(text(row, name) ?? '\0'),
      };
    }
    case 2: {
      const parts = [random.pick(['', 'a', 'B', 'Z']), random.pick(['', 'b', 'n', 'o']), random.pick(['', 'y', 'n'])];
      return {
        name,
        json: parts.map(escape).join('%'),
        holds: (row) => text(row, name) !== undefined && likeHolds(text(row, name) ?? '', parts),
      };
    }
    case 3: {
      const pattern = random.pick(['^[A-Z]', 'b+', 'n$', '^.{3}$', '[0-9]']);
      const fold = random.chance(0.5);
      const regex = new RegExp(pattern, fold ? 'isu' : 'su');
      return {
        name,
        json: `/reg/${fold ? 'i/' : ''}${pattern}`,
        holds: (row) => text(row, name) !== undefined && regex.test(text(row, name) ?? ''),
      };
    }
    case 4: {
      const wanted = random.pick(AGES);
      return {
        name: amount,
        json: random.chance(0.5) ? wanted : String(wanted),
        holds: (row) => number(row, amount) === wanted,
      };
    }
    case 5: {
      const [from, to] = [random.pick(AGES), random.pick(SCORES)];
      const [low, high] = [random.chance(0.2) ? undefined : from, random.chance(0.2) ? undefined : to];
      if (low === undefined && high === undefined)
        return { name: amount, json: '~0;0~', holds: (row) => number(row, amount) !== undefined };
      const fits = (value: number | undefined): boolean =>
        value !== undefined && (low === undefined || value >= low) && (high === undefined || value <= high);
      return {
        name: amount,
        json: `${low ?? ''}~${high ?? ''};17`,
        holds: (row) => fits(number(row, amount)) || number(row, amount) === 17,
      };
    }
    case 6: {
      const wanted = random.chance(0.5);
      return {
        name: 'vip',
        json: wanted ? random.pick([true, 1, 'TRUE', 'true']) : random.pick([false, 'False']),
        holds: (row) => row['vip'] === wanted,
      };
    }
    case 7: {
      const wanted = TAGS.filter(() => random.chance(0.3));
      return {
        name: 'tags',
        json: wanted,
        holds: (row) => list(row, 'tags') !== undefined && wanted.every((each) => list(row, 'tags')?.includes(each)),
      };
    }
    default: {
      const city = random.pick(['Rome', 'Oslo']);
      const nested = random.chance(0.5);
      return {
        name: nested ? 'extra' : 'extra.city',
        json: nested ? { city } : city,
        holds: (row) => (row['extra'] as { city?: string } | null)?.city === city,
      };
    }
  }
}

/** A filter in object form: all of its conditions hold. */
function objectFilter(random: Random): Condition {
  const conditions = Array.from({ length: random.below(4) }, () => objectCondition(random));
  const byName = new Map(conditions.map((each) => [each.name, each]));
  return {
    json: Object.fromEntries([...byName].map(([name, { json }]) => [name, json])),
    holds: (row) => [...byName.values()].every(({ holds }) => holds(row)),
  };
}

const ORDERED: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  less_or_equal: (order) => order <= 0,
  GT: (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** A filter in prefix notation. */
function prefixFilter(random: Random, depth = 0): Condition {
  const name = random.pick(TEXTUAL);
  const amount = random.pick(NUMERIC);
  const inner = (): Condition => prefixFilter(random, depth + 1);
  switch (depth > 3 ? 3 + random.below(9) : random.below(12)) {
    case 0: {
      const parts = Array.from({ length: 1 + random.below(3) }, inner);
      return {
        json: [random.pick(['and', '&&']), ...parts.map(({ json }) => json)],
        holds: (row) => parts.every(({ holds }) => holds(row)),
      };
    }
    case 1: {
      const parts = Array.from({ length: 1 + random.below(3) }, inner);
      return {
        json: [random.pick(['or', '||']), ...parts.map(({ json }) => json)],
        holds: (row) => parts.some(({ holds }) => holds(row)),
      };
    }
    case 2: {
      const part = inner();
      return { json: ['not', part.json], holds: (row) => !part.holds(row) };
    }
    case 3: {
      const wanted = random.pick(NAMES);
      return {
        json: [random.pick(['==', 'eq', 'Equal']), ['property', name], wanted],
        holds: (row) => text(row, name) === wanted,
      };
    }
    case 4: {
      const wanted = random.pick(SCORES);
      return {
        json: [random.pick(['!=', 'ne']), ['prop', amount], wanted],
        holds: (row) => number(row, amount) !== wanted,
      };
    }
    case 5: {
      const [operator, accept] = random.pick(Object.entries(ORDERED));
      const limit = random.pick([...AGES, ...SCORES]);
      return {
        json: [operator, ['field', amount], limit],
        holds: (row) => number(row, amount) !== undefined && accept((number(row, amount) ?? 0) - limit),
      };
    }
    case 6: {
      const [operator, accept] = random.pick(Object.entries(ORDERED));
      const limit = random.pick(NAMES);
      return {
        json: [operator, ['property', name], limit],
        holds: (row) => text(row, name) !== undefined && accept(compareText(text(row, name) ?? '', limit)),
      };
    }
    case 7: {
      const wanted = [random.pick(AGES), random.pick(AGES)];
      return {
        json: ['in', ['property', 'age'], ['list', ...wanted]],
        holds: (row) => wanted.includes(number(row, 'age') ?? Number.NaN),
      };
    }
    case 8: {
      const field = random.pick(['name', 'age', 'vip', 'tags', 'extra']);
      return { json: ['is_null', ['property', field]], holds: (row) => row[field] === null };
    }
    case 9: {
      const wanted = TAGS.filter(() => random.chance(0.3)).concat('x');
      return {
        json: [random.pick(['contains_any', 'overlaps']), ['property', 'tags'], ['list', ...wanted]],
        holds: (row) => list(row, 'tags')?.some((each) => wanted.includes(String(each))) === true,
      };
    }
    case 10: {
      const limit = random.pick([1, 18, 40]);
      return {
        json: ['>', ['+', ['property', 'age'], ['coalesce', ['property', 'score'], 0]], limit],
        holds: (row) =>
          number(row, 'age') !== undefined && (number(row, 'age') ?? 0) + (number(row, 'score') ?? 0) > limit,
      };
    }
    default: {
      const start = random.pick(['A', 'B', 'a', '']);
      return {
        json: ['starts_with', ['property', name], start],
        holds: (row) => text(row, name)?.startsWith(start) === true,
      };
    }
  }
}

export function randomFilter(random: Random): Condition | undefined {
  if (random.chance(0.1)) return undefined;
  return random.chance(0.4) ? objectFilter(random) : prefixFilter(random);
}

export function randomOrder(random: Random): readonly Order[] {
  return Array.from({ length: random.below(4) }, () => {
    const name = random.pick([...TEXTUAL, ...NUMERIC, 'vip']);
    const descending = random.chance(0.5);
    const key = (row: Row): unknown => row[name];
    const direction = descending ? 'desc' : 'asc';
    switch (random.below(3)) {
      case 0:
        return { json: name, key, descending: false };
      case 1:
        return { json: { [name]: direction }, key, descending };
      default:
        return { json: [direction, ['property', name]], key, descending };
    }
  });
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number(a) - Number(b);
}

export function sorted(rows: readonly Row[], orders: readonly Order[]): Row[] {
  return rows.toSorted((a, b) => {
    for (const { key, descending } of orders) {
      const order = compare(key(a), key(b)) * (descending ? -1 : 1);
      if (order !== 0) return order;
    }
    return compare(a['id'], b['id']);
  });
}

const MASKS = ['id', 'name,age', 'id,extra.city', 'extra', 'tags,extra.deep.on,vip', ' id , score ', 'nothing', ''];

export function randomMask(random: Random): string | undefined {
  return random.chance(0.4) ? undefined : random.pick(MASKS);
}

/** The wanted part of a row, names in the row's order. */
export function masked(row: Row, mask: string | undefined): Row {
  const paths = (mask ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (paths.length === 0) return row;
  const result: Row = {};
  for (const path of paths) copy(row, result, path.split('.'));
  return result;
}

function copy(from: Row, to: Row, [key = '', ...rest]: readonly string[]): void {
  if (!(key in from)) return;
  const value = from[key];
  if (rest.length === 0) to[key] = value;
  else if (typeof value === 'object' && value !== null) {
    const inner: Row = { ...(to[key] as Row | undefined) };
    copy(value as Row, inner, rest);
    if (Object.keys(inner).length > 0) to[key] = inner;
  }
}

export function flattened(row: Row, prefix = ''): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([key, value]): [string, unknown][] =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
        ? Object.entries(flattened(value as Row, `${prefix}${key}.`))
        : [[prefix + key, value]],
    ),
  );
}
