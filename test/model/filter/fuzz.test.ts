/** PostgreSQL and the predicate agree on random entities and random expressions. Seeded: a failure shows its seed. */
import { expect } from 'chai';
import type { Kysely } from 'kysely';
import { sql } from '../../../runtime/storage/sql.ts';
import {
  type Expression,
  ExpressionParser,
  orderToSql,
  parseFilter,
  parseOrder,
  sortItems,
  SqlCompiler,
  type SqlField,
  toFunction,
  toPredicate,
  type ValueType,
} from '../../../runtime/model/filter/index.ts';
import { describeStorages, withStorage } from '../../storage/support/storages.ts';
import { Random } from '../support/random.ts';

const FIELDS: Readonly<Record<string, { type: ValueType; column: string; isInteger?: true }>> = {
  id: { type: 'text', column: 'text collate "C"' },
  text: { type: 'text', column: 'text collate "C"' },
  other: { type: 'text', column: 'text collate "C"' },
  flag: { type: 'boolean', column: 'boolean' },
  int: { type: 'number', column: 'integer', isInteger: true },
  long: { type: 'number', column: 'bigint', isInteger: true },
  float: { type: 'number', column: 'float8' },
  any: { type: 'json', column: 'jsonb' },
  texts: { type: 'text[]', column: 'text[]' },
  longs: { type: 'number[]', column: 'bigint[]', isInteger: true },
  floats: { type: 'number[]', column: 'float8[]' },
};
const types = new Map(Object.entries(FIELDS).map(([name, { type }]) => [name, type]));
const columns = new Map<string, SqlField>(
  Object.entries(FIELDS).map(([name, { type, isInteger = false }]) => [
    name,
    { type, isInteger, sql: sql.id(`c_${name}`) },
  ]),
);

const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'abc',
  'b',
  'a%b',
  'a_b',
  '\\',
  'é',
  'É',
  'Жук',
  'жук',
  'ß',
  'aßB',
  'İ',
  'ᾳ',
  '😀',
  '\uffee',
  'a\nb',
  '42',
];
const NUMBERS = [
  0,
  1,
  -1,
  2,
  3,
  42,
  0.5,
  -2.5,
  1e15,
  1e200,
  -1e-200,
  2 ** 31 - 1,
  1763712000000,
  Number.MAX_SAFE_INTEGER,
];
const PATTERNS = ['%', 'a%', '%b', '%a%b%', '_', 'a_b', 'a\\%b', 'А%', 'É%', '', '%\\\\'];
const REGEXES = [
  'a',
  '^a',
  'b$',
  '^$',
  '[a-c]+',
  '(a|b)+c',
  '\\w',
  '\\bb',
  '[^a]',
  'é',
  'ж.к',
  '.{2,3}',
  '\\d+',
  'a?b',
  '\\\\',
  '^.$',
];
const TIMES = ['2026-11-21', '2026-02-30', '2026-11-21T10:00:00+02:00', '2024-02-29 23:59:59.5', 'x', '0000-01-01'];

type Kind = 'text' | 'number' | 'boolean' | 'json' | 'text[]' | 'number[]';

class Generator {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  entity(index: number): Record<string, unknown> {
    const maybe = <T>(value: T): T | null => (this.#random.chance(0.2) ? null : value);
    const list = <T>(item: () => T): T[] => Array.from({ length: this.#random.below(4) }, item);
    return {
      id: `e${index}`,
      text: maybe(this.#random.pick(TEXTS)),
      other: maybe(this.#random.pick(TEXTS)),
      flag: maybe(this.#random.chance(0.5)),
      int: maybe(this.#random.pick([0, 1, -1, 2, 3, 42])),
      long: maybe(this.#random.pick([0, 1, -5, 42, 1763712000000, -62135596800001, 2 ** 53 - 1])),
      float: maybe(this.#random.pick(NUMBERS)),
      any: maybe(this.#json(2)),
      texts: maybe(list(() => this.#random.pick(TEXTS))),
      longs: maybe(list(() => this.#random.pick([0, 1, 2, 42]))),
      floats: maybe(list(() => this.#random.pick([0, 0.5, 1, 42]))),
    };
  }

  #json(depth: number): unknown {
    const scalar = this.#random.pick<unknown>([...TEXTS, ...NUMBERS, true, false]);
    if (depth === 0 || this.#random.chance(0.4)) return scalar;
    if (this.#random.chance(0.4)) return Array.from({ length: this.#random.below(3) }, () => this.#json(depth - 1));
    return Object.fromEntries(['a', 'b', '0'].slice(this.#random.below(3)).map((key) => [key, this.#json(depth - 1)]));
  }

  expression(kind: Kind, depth: number): unknown {
    const nested = (of: Kind): unknown => this.expression(of, depth - 1);
    const isLeaf = depth <= 0 || this.#random.chance(0.25);
    const pick = (choices: readonly (() => unknown)[]): unknown => this.#random.pick(choices)();
    const property = (names: readonly string[]) => (): unknown => ['property', this.#random.pick(names)];
    const deep = (): unknown => ['prop', 'any', this.#random.pick(['a', 'b', 'a.b', '0', '-1', 'b.0.a', 'b.b'])];
    const choice = (of: Kind) => (): unknown => ['if', nested('boolean'), nested(of), nested(of)];
    const either = (of: Kind) => (): unknown => ['coalesce', nested(of), nested(of)];
    switch (kind) {
      case 'text':
        if (isLeaf) return pick([property(['text', 'other']), () => this.#random.pick(TEXTS)]);
        return pick([
          () => [this.#random.pick(['lower', 'upper']), nested('text')],
          () => ['concat', nested('text'), nested('text')],
          () => ['substr', nested('text'), this.#random.below(3), this.#random.below(4)],
          choice('text'),
          either('text'),
        ]);
      case 'number':
        if (isLeaf) return pick([property(['int', 'long', 'float']), () => this.#random.pick(NUMBERS)]);
        return pick([
          () => [this.#random.pick(['+', '-', '*', '/', 'mod']), nested('number'), nested('number')],
          () => [
            this.#random.pick(['abs', 'round', 'floor', 'ceil', 'year', 'month', 'day', 'hour']),
            nested('number'),
          ],
          () => ['trunc', this.#random.pick(['second', 'day', 'week', 'month', 'year']), nested('number')],
          () => ['ts', this.#random.pick(TIMES)],
          () => ['length', nested('text')],
          () => ['size', nested(this.#random.pick(['text[]', 'number[]', 'json']))],
          choice('number'),
          either('number'),
        ]);
      case 'json':
        return pick([property(['any']), deep]);
      case 'text[]':
        return pick([property(['texts']), () => ['list', ...this.#some(TEXTS)]]);
      case 'number[]':
        return pick([property(['longs', 'floats']), () => ['list', ...this.#some([0, 0.5, 1, 42])]]);
      case 'boolean':
        return this.#condition(isLeaf, nested);
      default:
        return kind satisfies never;
    }
  }

  #some<T>(values: readonly T[]): T[] {
    return Array.from({ length: 1 + this.#random.below(3) }, () => this.#random.pick(values));
  }

  #condition(isLeaf: boolean, nested: (kind: Kind) => unknown): unknown {
    const random = this.#random;
    const pick = (choices: readonly (() => unknown)[]): unknown => random.pick(choices)();
    const scalar = (): Kind => random.pick(['text', 'number']);
    if (isLeaf && random.chance(0.4)) return pick([() => ['property', 'flag'], () => random.chance(0.5)]);
    const list = random.pick<Kind>(['text[]', 'number[]']);
    const compare = random.pick(['<', '<=', '>', '>=']);
    return pick([
      () => [random.pick(['and', 'or']), ...this.#some([0]).map(() => nested('boolean'))],
      () => ['not', nested('boolean')],
      () => {
        const kind = scalar();
        return [compare, nested(kind), nested(kind)];
      },
      () => {
        const kind = random.pick<Kind>(['text', 'number', 'json', 'text[]', 'number[]']);
        return [random.pick(['=', '!=']), nested(kind), nested(kind)];
      },
      () => [random.pick(['=', '!=']), nested('json'), nested(random.pick(['text', 'number', 'boolean']))],
      () => [random.pick(['=', '!=']), nested(scalar()), null],
      () => [compare, nested('json'), nested(scalar())],
      () => {
        const kind = scalar();
        return ['between', nested(kind), nested(kind), nested(kind)];
      },
      () => ['in', nested(list === 'text[]' ? 'text' : 'number'), nested(list)],
      () => ['in', nested(scalar()), nested('json')],
      () => [
        random.pick(['is_null', 'is_empty']),
        nested(random.pick(['text', 'number', 'json', 'text[]', 'boolean'])),
      ],
      () => [random.pick(['like', 'ilike']), nested(random.pick(['text', 'json'])), random.pick(PATTERNS)],
      () => [random.pick(['regexp', 'iregexp']), nested(random.pick(['text', 'json'])), random.pick(REGEXES)],
      () => [random.pick(['starts_with', 'ends_with', 'contains']), nested('text'), nested('text')],
      () => [random.pick(['contains_all', 'contains_any']), nested(list), nested(list)],
      () => [random.pick(['contains_all', 'contains_any']), nested('json'), nested(list)],
    ]);
  }
}

async function fill(db: Kysely<unknown>, entities: readonly Record<string, unknown>[]): Promise<void> {
  const definitions = Object.entries(FIELDS).map(
    ([name, { column }]) => sql`${sql.id(`c_${name}`)} ${sql.raw(column)}`,
  );
  await sql`drop table if exists fuzz`.execute(db);
  await sql`create table fuzz (${sql.join(definitions)})`.execute(db);
  for (const entity of entities) {
    const values = Object.keys(FIELDS).map((name) => {
      const value = entity[name];
      return name === 'any' && value !== null ? sql`${JSON.stringify(value)}::jsonb` : sql`${value}`;
    });
    await sql`insert into fuzz values (${sql.join(values)})`.execute(db);
  }
}

describeStorages('filter expressions, fuzzed', function (newPlace) {
  const storage = withStorage(newPlace);
  const seed = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20261121);
  const rounds = Number(process.env['RINGMASTER_FUZZ_ROUNDS'] ?? 400);
  const random = new Random(seed);
  const generator = new Generator(random);
  const entities = Array.from({ length: 60 }, (_, index) => generator.entity(index));
  const compiler = new SqlCompiler(columns);
  const parser = (): ExpressionParser => new ExpressionParser({ fields: types, now: 1763712000000 });

  before(() => fill(storage().db as unknown as Kysely<unknown>, entities));
  after(() => sql`drop table if exists fuzz`.execute(storage().db));

  it(`select the same entities in PostgreSQL and in memory (seed ${seed})`, async function () {
    this.timeout(60_000);
    let selected = 0;
    for (let round = 0; round < rounds; round += 1) {
      const input = generator.expression('boolean', 1 + random.below(4));
      let filter: Expression;
      try {
        filter = parseFilter(parser(), Array.isArray(input) ? input : ['and', input]);
      } catch (error) {
        throw new Error(`${JSON.stringify(input)}: ${(error as Error).message}`, { cause: error });
      }
      const expected = entities.filter(toPredicate(filter)).map(({ id }) => id);
      const query = sql<{ id: string }>`select c_id as id from fuzz where ${compiler.condition(filter)}`;
      const { rows } = await query.execute(storage().db).catch((error: unknown) => {
        throw new Error(`round ${round}, ${JSON.stringify(input)}: ${(error as Error).message}`, { cause: error });
      });
      const found = new Set(rows.map(({ id }) => id));
      const differing = entities.filter(({ id }) => found.has(id as string) !== expected.includes(id));
      expect(differing, `round ${round}: ${JSON.stringify(input)}`).to.deep.equal([]);
      selected += found.size;
    }
    // A generator that selects all or nothing would test nothing.
    expect(selected / (rounds * entities.length)).to.be.within(0.1, 0.9);
  });

  it(`compute and sort alike in PostgreSQL and in memory (seed ${seed})`, async function () {
    this.timeout(60_000);
    for (let round = 0; round < rounds / 4; round += 1) {
      const kind = random.pick<Kind>(['text', 'number', 'json']);
      const input = generator.expression(kind, 1 + random.below(4));
      const direction = random.pick(['asc', 'desc']);
      if (!Array.isArray(input)) continue;
      const order = parseOrder(parser(), [[direction, input]]);
      const expression = parser().parse(input, 'expression');
      const expected = sortItems(entities as { id: string }[], order).map((item) => [
        item.id,
        toFunction(expression)(item),
      ]);
      const terms = sql.join([...orderToSql(compiler, order), sql`c_id`]);
      const { rows } = await sql<{ id: string; value: unknown }>`
        select c_id as id, ${compiler.value(expression)} as value from fuzz order by ${terms}`.execute(storage().db);
      const found = rows.map(({ id, value }) => [id, value]);
      const zero = (values: unknown): unknown => JSON.parse(JSON.stringify(values));
      expect(zero(found), `round ${round}: ${direction} ${JSON.stringify(input)}`).to.deep.equal(zero(expected));
    }
  });
});
