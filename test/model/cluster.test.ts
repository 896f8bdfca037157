import { expect } from 'chai';
import { type Entity, type Model, type ModelChange, openModel } from '../../runtime/model/index.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { describePostgres, failure, type Place } from '../storage/support/storages.ts';
import { DOMAIN, NO_FILES, removeClasses } from './support/model.ts';

/** One of several nodes, with what its subscribers are told. */
class Peer {
  readonly storage: Storage;
  readonly model: Model;
  readonly changes: ModelChange[] = [];
  #changed = Promise.withResolvers<void>();

  private constructor(storage: Storage, model: Model) {
    this.storage = storage;
    this.model = model;
    model.onChange((change) => {
      this.changes.push(change);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  static async start(place: Place, now: () => number = Date.now): Promise<Peer> {
    const storage = await place.open();
    return new Peer(storage, await openModel(storage, { files: NO_FILES, now }));
  }

  async told(count: number): Promise<string[]> {
    while (this.changes.length < count) await this.#changed.promise;
    return this.changes.splice(0).map(({ operation, id }) => (id === undefined ? operation : `${operation} ${id}`));
  }

  async close(): Promise<void> {
    await this.model.close();
    await this.storage.close();
  }
}

describePostgres('the data model on several nodes', (newPlace) => {
  let place: Place;
  let a: Peer;
  let b: Peer;
  let time = Date.UTC(2026, 10, 21);
  before(async () => {
    place = await newPlace();
    a = await Peer.start(place, () => time);
    b = await Peer.start(place, () => time);
  });
  afterEach(async () => {
    for (const { id } of a.model.classes(DOMAIN).list().toReversed()) await a.model.classes(DOMAIN).remove(id);
    // The notice of a change of an entity comes after those of the classes before it.
    await settled();
    a.changes.length = 0;
    b.changes.length = 0;
  });
  after(async () => {
    await removeClasses(a.storage);
    await a.close();
    await b.close();
  });

  /** Waits until each node has followed what the other has told so far. */
  async function settled(): Promise<void> {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const name = `sync${Math.trunc(Math.random() * 1e9)}`;
      await from.model.classes('sync').create({ classname: name, storage_mode: 'ets' });
      const has = (): boolean =>
        to.model
          .classes('sync')
          .list()
          .some(({ classname }) => classname === name);
      for (let wait = 1; !has(); wait += 1) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  const PROPERTIES = [
    { name: 'name', data_type: 'string', unique: true },
    { name: 'n', data_type: 'integer' },
  ];
  async function makeClass(mode: string, settings: object = {}): Promise<string> {
    const { id } = await a.model
      .classes(DOMAIN)
      .create({ classname: 'c', storage_mode: mode, properties: PROPERTIES, ...settings });
    await settled();
    return id;
  }
  const on = (peer: Peer) => peer.model.collection(DOMAIN, 'c');

  it('numbers entities in memory uniquely across nodes', async () => {
    const number = { name: 'number', data_type: 'increment', unique: true };
    const id = await makeClass('ram', { properties: [...PROPERTIES, number] });
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => on(n % 2 === 0 ? a : b).create({ n })));
    const lists = await Promise.all([a, b].map((peer) => on(peer).createAll([{ n: 20 }, { n: 21 }])));
    const numbers = [...made, ...lists.flat()].map((entity) => Number(entity['number']));
    expect(numbers.toSorted((x, y) => x - y)).to.deep.equal(Array.from({ length: 24 }, (_, index) => index + 1));
    const other = { name: 'other', data_type: 'increment' };
    const refused = await failure(a.model.classes(DOMAIN).update(id, { properties: [...PROPERTIES, other] }));
    expect(refused).to.include({ name: 'CannotApplyError', field: 'properties.other' });
    await on(a).clear();
    await a.model.classes(DOMAIN).update(id, { properties: [...PROPERTIES, other] });
    expect(await on(a).create({ id: 'x' })).to.deep.include({ other: 1 });
  });

  it('has the same classes on every node', async () => {
    const id = await makeClass('category');
    expect(b.model.classes(DOMAIN).get(id)).to.deep.equal(a.model.classes(DOMAIN).get(id));
    await on(a).create({ id: 'x', n: 1 });
    await b.model.classes(DOMAIN).update(id, { properties: [...PROPERTIES, { name: 'more', data_type: 'string' }] });
    // The notice may not be there yet: the class is read anew.
    await b.model.classes(DOMAIN).update(id, { properties: [{ name: 'n', data_type: 'long' }] });
    expect(await on(a).create({ id: 'y', n: 2 })).to.deep.include({ n: 2 });
    expect(await on(a).list({})).to.deep.equal([
      { id: 'x', n: 1 },
      { id: 'y', n: 2 },
    ]);
    await b.model.classes(DOMAIN).remove(id);
    await settled();
    expect(() => on(a)).to.throw(/not found/);
  });

  it('can change one class on two nodes at once', async () => {
    const id = await makeClass('category', { properties: [] });
    const add = (peer: Peer, name: string): Promise<unknown> =>
      peer.model.classes(DOMAIN).update(id, {
        description: `${peer.model.classes(DOMAIN).get(id)?.description}${name}`,
        opts: { max_limit: 10 },
      });
    await Promise.all([add(a, '1'), add(b, '2'), add(a, '3'), add(b, '4')]);
    await settled();
    expect(a.model.classes(DOMAIN).get(id)).to.deep.equal(b.model.classes(DOMAIN).get(id));
    const twice = await Promise.allSettled(
      [a, b].map((peer) => peer.model.classes(DOMAIN).create({ classname: 'same', storage_mode: 'category' })),
    );
    expect(twice.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
    await settled();
  });

  it('notifies the subscribers of all nodes of table changes, in order', async () => {
    await makeClass('category');
    for (let n = 0; n < 20; n += 1) await on(a).create({ id: String(n), n });
    await on(a).update('3', { n: 33 });
    await on(a).remove('4');
    await on(a).clear();
    const expected = [...Array.from({ length: 20 }, (_, n) => `create ${n}`), 'update 3', 'delete 4', 'clear'];
    expect(await b.told(23)).to.deep.equal(expected);
    expect(a.changes).to.have.length(23);
    await on(b).setup({ cmd: 'suspend_notification' });
    await settled();
    await on(a).create({ id: 'quiet' });
    await on(a).setup({ cmd: 'resume_notification' });
    expect(await b.told(1)).to.deep.equal(['reload']);
  });

  for (const mode of ['category', 'ram'] as const) {
    it(`mark a change of the other node, in a class of the mode ${mode}`, async () => {
      await makeClass(mode);
      await on(a).create({ id: 'x', n: 1 });
      await on(a).clear();
      while (b.changes.length < 2) await settled();
      expect(a.changes.map(({ elsewhere }) => elsewhere)).to.deep.equal([undefined, undefined]);
      expect(b.changes.map(({ elsewhere }) => elsewhere)).to.deep.equal([true, true]);
    });
  }

  describe('classes in memory', () => {
    it('have the same entities on every node, including a later one', async () => {
      await makeClass('ram');
      await on(a).create({ id: 'x', name: 'X', n: 1 });
      expect(await b.told(1)).to.deep.equal(['create x']);
      expect(await on(b).read('x')).to.deep.equal({ id: 'x', name: 'X', n: 1 });
      await on(b).update('x', { n: 2 });
      await on(b).create({ id: 'y', name: 'Y' });
      await a.told(3);
      expect(await on(a).list({ order: ['id'], mask: 'id,n' })).to.deep.equal([
        { id: 'x', n: 2 },
        { id: 'y', n: null },
      ]);
      const late = await Peer.start(place);
      expect(await on(late).list({ mask: 'id' })).to.have.length(2);
      await late.close();
      await on(b).clear();
      expect((await a.told(1)).at(-1)).to.equal('clear');
      expect(await on(a).list({})).to.deep.equal([]);
    });

    it('keep ids and unique values unique across nodes', async () => {
      await makeClass('ram');
      const ids = await Promise.allSettled([a, b].map((peer) => on(peer).create({ id: 'same' })));
      expect(ids.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
      const names = await Promise.allSettled([a, b].map((peer) => on(peer).create({ name: 'same' })));
      expect(names.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
      const refused = names.find((each) => each.status === 'rejected');
      expect(refused?.reason).to.have.property('field', 'name');
      await on(a).create({ id: 'u', name: 'u' });
      await settled();
      expect(await failure(on(b).create({ name: 'u' }))).to.have.property('field', 'name');
      await on(b).update('u', { name: 'v' });
      await on(a).create({ name: 'u' });
    });

    it('lose no write when all nodes write one entity', async () => {
      await makeClass('ram', { properties: [{ name: 'n', data_type: 'integer' }] });
      await on(a).create({ id: 'x', n: 0 });
      await settled();
      const add = (before: Entity) => ({ n: Number(before['n']) + 1 });
      await Promise.all(Array.from({ length: 40 }, (_, n) => on(n % 2 === 0 ? a : b).edit('x', add)));
      await settled();
      expect(await on(a).read('x')).to.deep.equal({ id: 'x', n: 40 });
      expect(await on(b).read('x')).to.deep.equal({ id: 'x', n: 40 });
    });

    for (const mode of ['ram', 'runtime']) {
      it(`notify every node of each write of an entity once, in one order; storage_mode ${mode}`, async function () {
        this.timeout(120_000);
        await makeClass(mode, { properties: [{ name: 'n', data_type: 'integer' }] });
        await on(a).create({ id: 'x', n: 0 });
        await settled();
        for (const peer of [a, b]) peer.changes.length = 0;
        const writers = Array.from({ length: 16 }, async (_, writer) => {
          for (let n = 1; n <= 50; n += 1) await on(writer % 2 === 0 ? a : b).update('x', { n: writer * 50 + n });
        });
        await Promise.all(writers);
        await settled();
        const told = ({ changes }: Peer) => changes.map(({ before, after }) => [before?.['n'], after?.['n']]);
        const values = told(a).map(([, value]) => value);
        expect(values.toSorted((x, y) => Number(x) - Number(y))).to.deep.equal(
          Array.from({ length: 800 }, (_, n) => n + 1),
        );
        expect(told(b)).to.deep.equal(told(a));
        // Each begins where the last one ended.
        expect(told(a).map(([value]) => value)).to.deep.equal([0, ...values.slice(0, -1)]);
        for (const peer of [a, b]) expect(await on(peer).read('x')).to.deep.equal({ id: 'x', n: values.at(-1) });
      });
    }

    it('create a list completely or not at all, with a notice on every node', async () => {
      await makeClass('ram');
      const list = Array.from({ length: 1_200 }, (_, n) => ({ id: `e${n}`, name: `name ${n}`, n }));
      await on(a).create({ id: 'other', name: 'name 1100' });
      const refused = failure(on(b).createAll(list));
      expect(await refused).to.include({ name: 'ConflictError', field: '1100.name' });
      await on(a).remove('other');
      await on(a).create({ id: 'e7' });
      expect(await failure(on(b).createAll(list))).to.include({ field: '7.id' });
      await on(a).remove('e7');
      expect(await failure(on(b).createAll([...list, { id: 'e3' }]))).to.include({ field: '1200.id' });
      await settled();
      for (const peer of [a, b]) expect(await on(peer).list({ limit: 0 })).to.deep.equal({ count: 0 });
      for (const peer of [a, b]) peer.changes.length = 0;
      await on(b).createAll(list);
      const expected = list.map(({ id }) => `create ${id}`);
      for (const peer of [a, b]) expect(await peer.told(list.length)).to.deep.equal(expected);
      expect(await on(a).read('e1199')).to.deep.equal({ id: 'e1199', name: 'name 1199', n: 1199 });
      expect(await failure(on(a).create({ name: 'name 5' }))).to.have.property('field', 'name');
    });

    it('expire on every node at the same time, and follow class changes', async () => {
      await makeClass('runtime', { opts: { expires_mode: 'modify', expires_ttl: 60 } });
      await on(a).create({ id: 'x', n: 1 });
      await on(a).create({ id: 'y', n: 1 });
      await settled();
      time += 30_000;
      await on(b).update('y', { n: 5 });
      await settled();
      time += 31_000;
      for (const peer of [a, b]) expect(await on(peer).list({ mask: 'id' })).to.deep.equal([{ id: 'y' }]);
      const [{ id } = { id: '' }] = a.model.classes(DOMAIN).list();
      await b.model.classes(DOMAIN).update(id, {
        properties: [
          { name: 'n', data_type: 'float' },
          { name: 'm', data_type: 'string', default: 'd' },
        ],
      });
      await settled();
      const entity = { id: 'y', n: 5, m: 'd' };
      for (const peer of [a, b]) expect(await on(peer).read('y')).to.deep.equal(entity);
      const late = await Peer.start(place, () => time);
      expect(await on(late).read('y')).to.deep.equal(entity);
      await late.close();
    });

    it('of mode ets belong to a single node', async () => {
      await makeClass('ets');
      await on(a).create({ id: 'x' });
      await settled();
      expect(await on(b).list({})).to.deep.equal([]);
    });
  });

  it('are empty after all nodes have stopped', async () => {
    const own = await newPlace();
    const first = await Peer.start(own);
    await first.model.classes(DOMAIN).create({ classname: 'c', storage_mode: 'ram', properties: PROPERTIES });
    await on(first).create({ id: 'x', name: 'X' });
    await first.close();
    const second = await Peer.start(own);
    expect(await on(second).list({})).to.deep.equal([]);
    await on(second).create({ id: 'x', name: 'X' });
    await second.close();
  });
});
