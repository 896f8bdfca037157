/** Classes in memory with many entities: the same answers as without indexes, and the thread is free in between. */
import process from 'node:process';
import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import type { Entity, ListQuery, ModelCollection } from '../../../runtime/model/index.ts';
import {
  ExpressionParser,
  parseFilter,
  parseOrder,
  sortItems,
  toPredicate,
} from '../../../runtime/model/filter/index.ts';
import { fieldTypes } from '../../../runtime/model/query.ts';
import { describeStorages, withStorage } from '../../storage/support/storages.ts';
import { emptyModel, removeClasses, type TestModel } from '../support/model.ts';
import { Random } from '../support/random.ts';

const SEED = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);
const COUNT = 6000;
const STATES = ['new', 'open', 'done', 'void'];

describeStorages('large classes in memory', function (newPlace) {
  const storage = withStorage(newPlace);
  let test: TestModel;
  let collection: ModelCollection;
  const random = new Random(SEED);
  let written = 0;

  const fields = (): Record<string, unknown> => {
    written += 1;
    const maybe = <T>(value: T): T | null => (random.chance(0.1) ? null : value);
    return {
      state: maybe(random.pick(STATES)),
      age: maybe(random.below(100)),
      code: written,
      note: maybe(`note ${random.below(50)}`),
      flag: maybe(random.chance(0.5)),
      any: maybe(random.pick<unknown>([1, 'x', { a: 1 }])),
    };
  };

  before(async () => {
    test = await emptyModel(storage());
    collection = await test.collection({
      classname: 'large',
      storage_mode: 'ets',
      properties: [
        { name: 'state', data_type: 'enum', items: STATES, index: true },
        { name: 'age', data_type: 'int', index: true },
        { name: 'code', data_type: 'long', unique: true },
        { name: 'note', data_type: 'string' },
        { name: 'flag', data_type: 'bool', index: true },
        { name: 'any', data_type: 'any' },
      ],
      opts: { lookup_properties: ['state', 'age'], max_limit: 100_000 },
    });
    for (let n = 0; n < COUNT; n += 1) await collection.create({ id: `e${(n * 7919) % 100_003}`, ...fields() });
  });
  after(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const everything = async (): Promise<readonly Entity[]> => (await collection.list({})) as readonly Entity[];
  /** Without any index. */
  const plain = (
    entities: readonly Entity[],
    { filter, order, offset = 0, limit = 100_000 }: ListQuery,
  ): readonly string[] => {
    const parser = (): ExpressionParser =>
      new ExpressionParser({ fields: fieldTypes(collection.definition), now: test.time });
    const kept = filter === undefined ? entities : entities.filter(toPredicate(parseFilter(parser(), filter)));
    return sortItems(kept, order === undefined ? [] : parseOrder(parser(), order))
      .slice(offset, offset + limit)
      .map(({ id }) => id);
  };
  const ids = (rows: unknown): readonly string[] => (rows as readonly Entity[]).map(({ id }) => id);

  const condition = (): unknown => {
    const compare = random.pick(['==', '<', '<=', '>', '>=', '!=']);
    return random.pick<() => unknown>([
      () => ['==', ['prop', 'state'], random.pick(STATES)],
      () => [compare, ['prop', 'age'], random.below(110) - 5],
      () => [compare, random.below(100), ['prop', 'age']],
      () => ['between', ['prop', 'age'], random.below(50), 50 + random.below(50)],
      () => [compare, ['prop', 'code'], random.below(COUNT)],
      () => ['==', ['prop', 'flag'], random.chance(0.5)],
      () => ['==', ['prop', 'any'], random.pick<unknown>([1, 'x', 2])],
      () => ['like', ['prop', 'note'], `%${random.below(10)}%`],
      () => ['is_null', ['prop', random.pick(['age', 'state', 'note'])]],
      () => [compare, ['prop', 'id'], `e${random.below(100_000)}`],
    ])();
  };
  const query = (): ListQuery => ({
    ...(random.chance(0.8) && {
      filter: [random.pick(['and', 'and', 'or']), ...Array.from({ length: 1 + random.below(3) }, condition)],
    }),
    ...(random.chance(0.7) && {
      order: Array.from({ length: 1 + random.below(2) }, () => ({
        [random.pick(['state', 'age', 'code', 'note', 'id', 'flag', 'any'])]: random.pick(['asc', 'desc']),
      })),
    }),
    offset: random.pick([0, 0, 3, 500, 5000]),
    limit: random.pick([1, 20, 1000, 50_000]),
  });

  // Slow on purpose: a regular expression over a computed text.
  const slow = ['regexp', ['concat', ...Array.from({ length: 6 }, () => ['prop', 'note'])], '(a|b|no)+.*9{3}x'];

  it(`give the same results as without indexes (seed ${SEED})`, async function () {
    this.timeout(60_000);
    const entities = await everything();
    expect(entities).to.have.length(COUNT);
    let found = 0;
    for (let n = 0; n < 300; n += 1) {
      const asked = query();
      const wanted = plain(entities, asked);
      found += wanted.length;
      expect(ids(await collection.list(asked)), JSON.stringify(asked)).to.deep.equal(wanted);
      const counted = await collection.list({ ...asked, countonly: true });
      expect(counted).to.deep.equal({ count: plain(entities, { filter: asked.filter }).length });
      if (n % 10 !== 0) continue;
      const snapshot = { ...asked, snapshot: `s${n}`, session: 'me', offset: 0 };
      expect(ids(await collection.list(snapshot))).to.deep.equal(plain(entities, { ...asked, offset: 0 }));
      const whole = await collection.list({ ...asked, snapshot: '*' });
      // Without an order there is none.
      if (asked.order !== undefined) expect(ids(whole)).to.deep.equal(wanted);
      else expect(ids(whole)).to.have.length(wanted.length);
    }
    expect(found).to.be.greaterThan(10_000);
  });

  it('give the same results by keys', async () => {
    const entities = await everything();
    for (const keys of [{ state: 'new' }, { age: 7 }, { state: 'open', age: 3 }, { id: entities[5]?.id ?? '' }]) {
      const wanted = entities.filter((entity) => Object.entries(keys).every(([name, value]) => entity[name] === value));
      expect(await collection.lookup(keys)).to.deep.equal(ids(wanted));
    }
  });

  it('return the state at the query, despite concurrent writes', async function () {
    this.timeout(60_000);
    let during = 0;
    for (let n = 0; n < 10; n += 1) {
      const asked: ListQuery = {
        filter: ['and', ['like', ['prop', 'note'], `%${n}`], ['not', slow]],
        order: n % 2 === 0 ? ['note'] : ['age'],
      };
      const before = await everything();
      let running = true;
      const list = collection.list(asked).finally(() => {
        running = false;
      });
      for (let write = 0; running && write < 500; write += 1) {
        const victim = random.pick(before);
        during += 1;
        await collection.replace(victim.id, fields());
        if (write % 3 === 0) {
          await collection.remove(victim.id);
          await collection.create({ id: victim.id, ...fields() });
        }
        await turn();
      }
      expect(ids(await list), `list ${n}`).to.deep.equal(plain(before, asked));
    }
    expect(during).to.be.at.least(10);
  });

  it('do not block the thread during any number of queries', async () => {
    let turns = 0;
    let longest = 0;
    let running = true;
    // Of processor time: other work does not count.
    const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
    const watch = async (): Promise<void> => {
      while (running) {
        const last = process.threadCpuUsage();
        await turn();
        turns += 1;
        longest = Math.max(longest, milliseconds(process.threadCpuUsage(last)));
      }
    };
    const watching = watch();
    const began = process.threadCpuUsage();
    await Promise.all(Array.from({ length: 8 }, () => collection.list({ filter: slow, order: ['note'] })));
    const took = milliseconds(process.threadCpuUsage(began));
    running = false;
    await watching;
    // Each look took some milliseconds, of which the thread got away after two.
    expect(turns).to.be.greaterThan(8);
    expect(longest).to.be.lessThan(Math.max(60, took / 2));
  });
});
