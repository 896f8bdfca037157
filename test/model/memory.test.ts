import { expect } from 'chai';
import { BadParameterError, type ModelCollection, NotFoundError } from '../../runtime/model/index.ts';
import { Lifetimes } from '../../runtime/model/memory/lifetimes.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { emptyModel, removeClasses, type TestModel } from './support/model.ts';

describeStorages('memory classes', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;

  beforeEach(async () => {
    test = await emptyModel(storage());
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const make = (opts: object, mode = 'runtime'): Promise<ModelCollection> =>
    test.collection({ classname: 'm', storage_mode: mode, properties: [{ name: 'n', data_type: 'int' }], opts });

  it('expire entities; PATCH and PUT extend their lifetime', async () => {
    const entities = await make({ expires_mode: 'modify', expires_ttl: 10 });
    for (const id of ['a', 'b', 'c']) await entities.create({ id });
    test.time += 9000;
    await entities.update('a', { n: 1 });
    await entities.replace('b', { n: 1 });
    test.time += 2000;
    expect(await entities.list({ mask: 'id' })).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
    expect(test.changes.at(-1)).to.include({ operation: 'delete', id: 'c' });
    test.time += 10_000;
    expect(await failure(entities.read('a'))).to.be.instanceOf(NotFoundError);
  });

  it('expire entities counted from their creation', async () => {
    const entities = await make({ expires_mode: 'create', expires_ttl: 10 });
    await entities.create({ id: 'a' });
    test.time += 9000;
    await entities.update('a', { n: 1 });
    test.time += 2000;
    expect(await entities.list({ countonly: true })).to.deep.equal({ count: 0 });
  });

  it('leave returned entities unchanged', async () => {
    const entities = await make({});
    const before = await entities.create({ id: 'a', n: 1 });
    await entities.update('a', { n: 2 });
    expect(before).to.deep.equal({ id: 'a', n: 1 });
    expect(() => Object.assign(before, { n: 3 })).to.throw(TypeError);
  });

  describe('snapshots', () => {
    const LIMIT = 10;
    let entities: ModelCollection;
    const page = (offset: number, more: object = {}): Promise<unknown> =>
      entities.list({ snapshot: 's', session: 'me', offset, limit: LIMIT, order: [{ n: 'desc' }], ...more });
    const ids = (rows: unknown): unknown => (rows as { n: number }[]).map(({ n }) => n);
    const fill = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await entities.create({ id: String(n), n });
    };

    beforeEach(async () => {
      entities = await make({}, 'ets');
      await fill(3000);
    });

    it('keep every page as of the first', async () => {
      expect(ids(await page(0))).to.deep.equal([2999, 2998, 2997, 2996, 2995, 2994, 2993, 2992, 2991, 2990]);
      await entities.create({ id: 'late', n: 5000 });
      await entities.update('2989', { n: -1 });
      expect(ids(await page(10))).to.include.members([2989, 2980]);
      expect(ids(await page(0, { snapshot: 'other' }))).to.include(5000);
      expect(await page(3000)).to.deep.equal([]);
    });

    it('belong to a session, a filter and an order, and expire', async () => {
      await page(0);
      expect(await failure(page(10, { session: 'you' })))
        .to.be.instanceOf(NotFoundError)
        .and.include({ entity: 'Snapshot' });
      expect(await failure(page(10, { order: ['n'] })))
        .to.be.instanceOf(BadParameterError)
        .and.include({ field: 'snapshot' });
      expect(ids(await page(0, { order: ['n'] }))).to.include(0);
      test.time += 60_000;
      expect(await failure(page(10, { order: ['n'] }))).to.be.instanceOf(NotFoundError);
    });

    it('expire after five minutes of use', async () => {
      await page(0);
      for (let minute = 0; minute < 5; minute += 1) {
        test.time += 59_000;
        await page(10);
      }
      test.time += 10_000;
      expect(await failure(page(10))).to.be.instanceOf(NotFoundError);
    });

    it('contain the whole set with *, beyond max_limit, within limit and offset', async () => {
      expect(await entities.list({ snapshot: '*' })).to.have.length(3000);
      expect(await entities.list({ snapshot: '*', limit: 2500, offset: 1000 })).to.have.length(2000);
      expect(await entities.list({})).to.have.length(1000);
    });

    it('are not used below 3000 entities', async () => {
      await entities.remove('0');
      await page(0);
      await entities.create({ id: 'late', n: 5000 });
      expect(ids(await page(0))).to.include(5000);
    });
  });
});

describe('lifetimes', () => {
  it('call back when the first one ends', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    // A timer may fire a fraction of a millisecond early; then it calls again.
    const lifetimes: Lifetimes = new Lifetimes(Date.now, () => {
      const ended = lifetimes.takeEnded();
      if (ended.length > 0) resolve(ended);
    });
    lifetimes.set('late', Date.now() + 100_000);
    lifetimes.set('soon', Date.now() + 1);
    // The timer does not keep the process alive; this does.
    const alive = setTimeout(() => undefined, 5000);
    expect(await promise).to.deep.equal(['soon']);
    clearTimeout(alive);
    expect(lifetimes.takeEnded()).to.deep.equal([]);
    lifetimes.clear();
  });
});
