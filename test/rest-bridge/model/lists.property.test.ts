/** Lists of entities, in tables and in memory, are what a plain reference makes of the unfiltered list. Seeded. */
import { expect } from 'chai';
import { Random } from '../../model/support/random.ts';
import { type Kind, ListGenerator } from '../lists/generator.ts';
import { answer, type Row } from '../lists/reference.ts';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const ROWS = 60;
const LISTS = Number(process.env['RINGMASTER_FUZZ_LISTS'] ?? 80);
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

describeNodes('REST: lists answer what a plain reference answers', (node) => {
  for (const mode of ['category', 'ram']) {
    it(`storage_mode ${mode}, ${LISTS} random lists, seed ${SEED}`, async function () {
      this.timeout(600_000);
      const random = new Random(SEED);
      const classname = `fuzz-${mode}`;
      await node().as(ADMIN, 'POST', '/domain/classes', { classname, storage_mode: mode, properties: PROPERTIES });
      const rows = Array.from({ length: ROWS }, (_, n) => randomRow(random, `r${random.below(1000)}-${n}`));
      const posted = await node().as(ADMIN, 'POST', `/model/${classname}`, rows);
      expect(posted.status, posted.text).to.equal(200);
      const byId = rows.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
      const generator = new ListGenerator(random, FIELDS, byId);
      let [found, cut] = [0, 0];
      for (let n = 0; n < LISTS; n += 1) {
        const query = generator.query();
        const { page, count } = answer(byId, query, { aliases: {}, byId: true });
        const texts = Object.entries(query).map(([name, value]: [string, unknown]): [string, string] => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]);
        const parameters = new URLSearchParams(texts);
        const what = `list ${n}: ${JSON.stringify(query)}`;
        const list = await node().as(ADMIN, 'GET', `/model/${classname}?${parameters}`);
        expect(list.status, `${what} ${list.text}`).to.equal(200);
        expect(list.body, what).to.deep.equal(page);
        const [name, value] = n % 2 === 0 ? ['limit', '0'] : ['countonly', 'true'];
        parameters.set(name, value);
        expect((await node().as(ADMIN, 'GET', `/model/${classname}?${parameters}`)).body, what).to.deep.equal({
          count,
        });
        found += count;
        cut += ROWS - count;
      }
      // A filter that always holds, or never, would prove nothing.
      expect(found).to.be.greaterThan(LISTS * 3);
      expect(cut).to.be.greaterThan(LISTS * 3);
    });
  }
});
