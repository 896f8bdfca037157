/** Lists of entities, in tables and in memory, are what a plain reference makes of the unfiltered list. Seeded. */
import { expect } from 'chai';
import { Random } from '../../model/support/random.ts';
import { type Kind, ListGenerator } from '../lists/generator.ts';
import { grouped, randomGrouping } from '../lists/grouping.ts';
import { answer, canonical, compareValues, type Query, type Row, type Rules } from '../lists/reference.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const ROWS = 60;
const LISTS = Number(process.env['RINGMASTER_FUZZ_LISTS'] ?? 50);
const SEED = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);

const PROPERTIES = [
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
const FIELDS: Readonly<Record<string, Kind>> = {
  id: 'text',
  name: 'text',
  state: 'text',
  age: 'number',
  at: 'number',
  score: 'number',
  vip: 'boolean',
  tags: 'texts',
  sizes: 'numbers',
  'extra.city': 'json',
  'extra.floor': 'json',
  'extra.deep.on': 'json',
  'extra.rooms.no': 'json',
};

const NAMES = ['Ann', 'ann', 'Bob', 'Bobby', 'Zoë', '', 'a_b', 'a%b', '50|50', 'Ω', '😀 smile', "O'Neil; drop", '\\x'];

function randomRow(random: Random, id: string): Row {
  const maybe = <T>(value: T): T | null => (random.chance(0.2) ? null : value);
  const some = <T>(values: readonly T[]): T[] => values.filter(() => random.chance(0.4));
  return {
    id,
    name: maybe(random.pick(NAMES)),
    state: maybe(random.pick(['new', 'open', 'done'])),
    age: maybe(random.pick([0, 1, 2, 17, 18, 40, -5, 2_147_483_647])),
    at: maybe(random.pick([0, 1_700_000_000_000, 1_800_000_000_000, -1])),
    score: maybe(random.pick([0, -0.5, 1.25, 1e10, 40])),
    vip: maybe(random.chance(0.5)),
    tags: maybe(some(['x', 'y', 'z', 'a|b', ''])),
    sizes: maybe(some([1, 2, 40])),
    extra: maybe({
      city: random.pick<unknown>(['Rome', 'Oslo', ['Rome', 'Bonn'], {}]),
      floor: random.pick<unknown>([1, 2, '3', null]),
      deep: { on: random.chance(0.5) },
      ...(random.chance(0.5) && { rooms: [{ no: random.below(3) }, { no: 'x' }, 'none', {}] }),
    }),
  };
}

const RULES: Rules = {
  aliases: {},
  byId: true,
  /** What is not there is left out; the time of a partitioned class is written as text. */
  importable: (row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, name === 'ts' ? new Date(Number(value)).toISOString() : value]),
    ),
};

function parametersOf(query: object): URLSearchParams {
  const texts = Object.entries(query).map(([name, value]: [string, unknown]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(texts);
}

/** Of 60 rows some days long. */
const BEGIN = Date.UTC(2026, 10, 1);
const DAY = 86_400_000;

describeNodes('REST: lists answer what a plain reference answers', (node) => {
  for (const mode of ['category', 'ram', 'history']) {
    it(`storage_mode ${mode}, ${LISTS} random lists, seed ${SEED}`, async function () {
      this.timeout(600_000);
      const random = new Random(SEED);
      const path = `/model/fuzz-${mode}`;
      const classname = `fuzz-${mode}`;
      await node().as(ADMIN, 'POST', '/domain/classes', { classname, storage_mode: mode, properties: PROPERTIES });
      const isTimed = mode === 'history';
      const rows: Row[] = Array.from({ length: ROWS }, (_, n) => ({
        ...randomRow(random, `r${random.below(1000)}-${n}`),
        ...(isTimed && { ts: BEGIN + random.below(5 * DAY) }),
      }));
      const posted = await node().as(ADMIN, 'POST', path, rows);
      expect(posted.status, posted.text).to.equal(200);
      const byId = rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
      const generator = new ListGenerator(random, { ...FIELDS, ...(isTimed && { ts: 'number' }) }, byId);

      const get = async (query: object): Promise<unknown> => {
        const { status, text, body } = await node().as(ADMIN, 'GET', `${path}?${parametersOf(query)}`);
        expect(status, `${JSON.stringify(query)} ${text}`).to.equal(200);
        return body;
      };
      /** Of a class that is kept by time, the rows of some days, and how to ask for them. */
      const part = (): { readonly among: readonly Row[]; readonly interval?: unknown } => {
        if (!isTimed) return { among: byId };
        const from = BEGIN + random.below(2 * DAY) - DAY;
        const to = random.chance(0.3) ? Number(random.pick(byId)['ts']) : from + 1 + random.below(6 * DAY);
        const [low, high] = from < to ? [from, to] : [to, from + 1];
        const texts = [new Date(low).toISOString(), high];
        return {
          among: byId.filter(({ ts }) => Number(ts) >= low && Number(ts) < high),
          interval: random.chance(0.5) ? texts : [low, high],
        };
      };

      let [found, cut] = [0, 0];
      for (let n = 0; n < LISTS; n += 1) {
        const query: Query = { ...generator.query(), ...(random.chance(0.2) && { export: true }) };
        const { among, ...interval } = part();
        const { page, count } = answer(among, query, RULES);
        const asked = { ...query, ...interval };
        const what = `list ${n}: ${JSON.stringify(asked)}`;
        expect(await get(asked), what).to.deep.equal(page);
        const counted = await get({ ...asked, ...(n % 2 === 0 ? { limit: 0 } : { countonly: 'true' }) });
        expect(counted, what).to.deep.equal({ count });
        found += count;
        cut += among.length - count;
      }
      // A filter that always holds, or never, would prove nothing.
      expect(found).to.be.greaterThan(LISTS * 3);
      expect(cut).to.be.greaterThan(LISTS * 3);
      for (let n = 0; n < LISTS; n += 1) {
        const { sortable, isOrdered, ...grouping } = randomGrouping(random, generator);
        const { filter, offset, limit } = generator.query();
        const { among, ...interval } = part();
        const kept = filter === undefined ? byId : answer(among, { filter }, RULES).page;
        const groups = grouped(filter === undefined ? among : kept, grouping);
        const names = [...Object.keys(grouping.groupby ?? {}), ...Object.keys(grouping.aggr ?? {})];
        const order = sortable
          .filter(() => random.chance(0.4))
          .map((name) => ({ [name]: random.pick(['asc', 'desc']) }));
        const mask = names.filter((name) => !name.includes(',') && random.chance(0.7)).join(',');
        const shape = {
          ...(order.length > 0 && { order }),
          ...(random.chance(0.3) && { mask }),
          ...(isOrdered && offset !== undefined && { offset }),
          ...(isOrdered && limit !== undefined && { limit }),
        };
        const asked = { ...grouping, ...shape, ...(filter !== undefined && { filter }), ...interval };
        const what = `groups ${n}: ${JSON.stringify(asked)}`;
        const expected = pageOfGroups(groups, shape, Object.keys(grouping.groupby ?? {}));
        const answered = (await get(asked)) as Row[];
        if (isOrdered) expect(answered.map(canonical), what).to.deep.equal(expected.map(canonical));
        else expect(answered.map(canonical), what).to.have.members(expected.map(canonical));
        expect(await get({ ...asked, limit: 0 }), what).to.deep.equal({ count: groups.length });
      }
    });
  }
});

/** In the order asked for, then by the groups. Names of results are no paths. */
function pageOfGroups(
  groups: readonly Row[],
  { order = [], mask = '', offset = 0, limit = Infinity }: { readonly order?: readonly Row[] } & Omit<Query, 'order'>,
  keys: readonly string[],
): readonly Row[] {
  const wanted = mask.split(',').map((name) => name.trim());
  const entries = [...order.flatMap((entry) => Object.entries(entry)), ...keys.map((key) => [key, 'asc'] as const)];
  const sorted = groups.toSorted((a, b) => {
    for (const [name, direction] of entries) {
      const difference = compareValues(own(a, name), own(b, name));
      if (difference !== 0) return direction === 'desc' ? -difference : difference;
    }
    return 0;
  });
  return sorted
    .slice(offset, offset + limit)
    .map((row) =>
      mask === '' ? row : Object.fromEntries(Object.entries(row).filter(([name]) => wanted.includes(name))),
    );
}

const own = (row: Row, name: string): unknown => Object.getOwnPropertyDescriptor(row, name)?.value;
