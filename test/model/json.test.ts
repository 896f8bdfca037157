/** Lists and entities as JSON text are the same as the objects, whatever is asked for. */
import { expect } from 'chai';
import type { ListQuery, ModelCollection } from '../../runtime/model/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from './support/model.ts';
import { Random } from './support/random.ts';

const PROPERTIES = [
  { name: 'text', data_type: 'string' },
  { name: 'kind', data_type: 'enum', items: ['a', 'b "quoted"'] },
  { name: 'flag', data_type: 'bool' },
  { name: 'int', data_type: 'int' },
  { name: 'big', data_type: 'long' },
  { name: 'float', data_type: 'float' },
  { name: 'number', data_type: 'increment' },
  { name: 'any', data_type: 'any' },
  { name: 'texts', data_type: 'string', multi: true },
  { name: 'floats', data_type: 'float', multi: true },
  { name: 'anys', data_type: 'any', multi: true },
];

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: ['', 'a', 'Жук 😀', '"\\\n\u0001\u2028', 't', 'null', '1e5'],
  kind: ['a', 'b "quoted"'],
  flag: [true, false],
  int: [0, -1, 2 ** 31 - 1],
  big: [0, 2 ** 53 - 1, -(2 ** 53 - 1)],
  float: [0, -0, 0.1, 1e21, 1e300, 5e-324, -2.5, 123456789.125, 1 / 3],
  any: ['x', 1, 1e-7, true, { a: { b: [1, 'x', null] }, c: 1e22 }, [], {}, [[1.5]], 'a "b"'],
  texts: [[], ['a', 'b"c', ''], ['😀']],
  floats: [[], [0.5, 1e21, 3]],
  anys: [[], [{ a: 1 }, 'x', 2]],
};

const QUERIES: readonly ListQuery[] = [
  {},
  { mask: 'text,float,any' },
  { mask: 'any.a,float' },
  { mask: 'id' },
  { mask: 'nothing' },
  { flat: true },
  { export: true },
  { limit: 3, offset: 2 },
  { limit: 0 },
  { countonly: true },
  { filter: ['is_null', ['prop', 'any']] },
  { filter: { text: 'nowhere' } },
  { order: [{ float: 'desc' }, 'big'] },
  {
    aggr: {
      n: ['count'],
      sum: ['sum', ['prop', 'big']],
      least: ['min', ['prop', 'text']],
      mean: ['avg', ['prop', 'int']],
    },
    groupby: { k: 'kind', f: 'flag', list: 'texts', deep: 'any.a' },
  },
  { aggr: { none: ['max', ['prop', 'float']] }, filter: ['==', ['prop', 'text'], 'nowhere'] },
  { aggr: { n: ['count'] }, groupby: { k: 'kind' }, mask: 'n' },
  { aggr: { n: ['count'] }, groupby: { k: 'kind' }, limit: 0 },
];

for (const mode of ['category', 'history', 'ram']) {
  describeStorages(`JSON of a ${mode} class`, (newPlace) => {
    const storage = withStorage(newPlace);
    let test: TestModel;
    let collection: ModelCollection;
    const interval = mode === 'history' ? { interval: ['2026-11-20', '2026-11-23'] } : {};

    const make = async (opts: object = {}): Promise<void> => {
      const properties = mode === 'ram' ? PROPERTIES.filter(({ name }) => name !== 'number') : PROPERTIES;
      collection = await test.collection({ classname: 'c', storage_mode: mode, properties, opts });
      const random = new Random(7);
      for (let n = 0; n < 40; n += 1) {
        const fields = Object.entries(VALUES).map(([name, values]) => [
          name,
          random.chance(0.2) ? null : random.pick(values),
        ]);
        await collection.create({ id: `e${n}`, ...(Object.fromEntries(fields) as object) });
      }
    };
    /** As both go over the wire. */
    const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    const compare = async (): Promise<void> => {
      for (const query of QUERIES) {
        const asked = { ...interval, ...query };
        const text = await collection.listJson(asked);
        expect(JSON.parse(text), JSON.stringify(query)).to.deep.equal(wire(await collection.list(asked)));
      }
    };

    beforeEach(async () => {
      test = await emptyModel(storage());
    });
    afterEach(async () => {
      await test.model.close();
      await removeClasses(storage());
    });

    it('equals the objects of lists', async () => {
      await make();
      await compare();
    });

    it('observes max_mask and max_limit', async () => {
      await make({ max_mask: 'text,float,any.a', max_limit: 7 });
      await compare();
      expect(JSON.parse(await collection.listJson(interval))).to.have.length(7);
      await test.model.classes(DOMAIN).update(collection.definition.id, { opts: { max_mask: 'text,float' } });
      await compare();
      const rows = JSON.parse(await collection.listJson(interval)) as object[];
      expect(new Set(rows.flatMap(Object.keys))).to.deep.equal(new Set(['text', 'float']));
    });

    it('follows class changes', async () => {
      await make();
      const { id } = collection.definition;
      const change = (properties: readonly object[]): Promise<unknown> =>
        test.model.classes(DOMAIN).update(id, { properties });
      const own = PROPERTIES.filter(({ name }) => mode !== 'ram' || name !== 'number');
      for (let use = 0; use < 4; use += 1) await collection.listJson(interval);
      await change([
        ...own.filter(({ name }) => name !== 'floats'),
        { name: 'added', data_type: 'bool', default: true },
      ]);
      await compare();
      expect(JSON.parse(await collection.listJson(interval))[0])
        .to.include({ added: true })
        .and.not.have.property('floats');
      await change(
        own.map((each) => (each.name === 'flag' && mode !== 'ram' ? { ...each, data_type: 'string' } : each)),
      );
      await compare();
    });

    it('equals the object of a read', async () => {
      await make();
      const date = mode === 'history' ? { date: '2026-11-21' } : {};
      for (const options of [{}, { mask: 'any.a,float' }, { mask: 'id' }, { flat: true }]) {
        for (let n = 0; n < 40; n += 1) {
          const text = await collection.readJson(`e${n}`, { ...options, ...date });
          expect(JSON.parse(text)).to.deep.equal(wire(await collection.read(`e${n}`, { ...options, ...date })));
        }
      }
    });
  });
}
