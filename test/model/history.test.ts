import { expect } from 'chai';
import {
  BadParameterError,
  CannotApplyError,
  ConflictError,
  InvalidFieldError,
  type ModelCollection,
  NotFoundError,
  openModel,
} from '../../runtime/model/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, NO_FILES, removeClasses, type TestModel } from './support/model.ts';

describeStorages('history and transactionlog', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;

  beforeEach(async () => {
    test = await emptyModel(storage());
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const PROPERTIES = [
    { name: 'at', data_type: 'long' },
    { name: 'n', data_type: 'int', index: true },
    { name: 'number', data_type: 'increment' },
  ];
  const history = (opts: object = {}, mode = 'history'): Promise<ModelCollection> =>
    test.collection({
      classname: 'calls',
      storage_mode: mode,
      properties: PROPERTIES,
      opts: { partition_property: 'at', ...opts },
    });
  const interval = ['2026-11-01', '2026-12-01'];

  it('are partitioned by time, in ISO 8601 or milliseconds', async () => {
    const calls = await history();
    const first = await calls.create({ id: 'a', at: '2026-11-20T23:59:59.999Z', n: 1 });
    expect(first).to.include({ at: Date.UTC(2026, 10, 21) - 1, number: 1 });
    await calls.create({ id: 'b', at: Date.UTC(2026, 10, 21), n: 2 });
    await calls.create({ id: 'c', at: '2026-12-01T01:00:00+02:00', n: 3 });
    expect(await calls.create({ id: 'd', n: 4 })).to.include({ at: test.time });
    expect(await calls.setup({ cmd: 'read_partitions' })).to.deep.equal(['2026-11']);
    expect(await calls.list({ interval, mask: 'id', order: ['at'] })).to.deep.equal([
      { id: 'a' },
      { id: 'b' },
      { id: 'd' },
      { id: 'c' },
    ]);
    expect(await calls.list({ interval: ['2026-11-20', '2026-11-21'], mask: 'id' })).to.deep.equal([{ id: 'a' }]);
    expect(await calls.list({ interval: [Date.UTC(2026, 10, 21), '2026-11-21T12:00:00Z'], mask: 'id' })).to.deep.equal([
      { id: 'b' },
    ]);
    expect(
      await calls.list({
        interval,
        aggr: { n: ['sum', ['prop', 'n']] },
        groupby: { day: ['trunc', 'day', ['prop', 'at']] },
      }),
    ).to.deep.equal([
      { day: Date.UTC(2026, 10, 20), n: 1 },
      { day: Date.UTC(2026, 10, 21), n: 6 },
      { day: Date.UTC(2026, 10, 30), n: 3 },
    ]);
  });

  it('require the interval of a list and the date of an entity', async () => {
    const calls = await history();
    await calls.create({ id: 'a', at: '2026-11-20T10:00:00Z' });
    for (const given of [undefined, 'x', ['2026-11-20'], ['2026-11-21', '2026-11-20'], ['x', 'y']]) {
      expect(await failure(calls.list({ interval: given })))
        .to.be.instanceOf(BadParameterError)
        .and.include({ field: 'interval' });
    }
    expect(await failure(calls.read('a')))
      .to.be.instanceOf(BadParameterError)
      .and.include({ field: 'date' });
    expect(await failure(calls.read('a', { date: '2026-02-30' }))).to.be.instanceOf(BadParameterError);
    expect(await failure(calls.read('a', { date: '2026-11-21' }))).to.be.instanceOf(NotFoundError);
    expect(await calls.read('a', { date: '2026-11-20' })).to.include({ id: 'a' });
  });

  it('change, replace, move and delete entities of a day', async () => {
    const calls = await history({ partition_interval: 'day' });
    await calls.create({ id: 'a', at: '2026-11-20T10:00:00Z', n: 1 });
    expect(await failure(calls.create({ id: 'a', at: '2026-11-20T11:00:00Z' }))).to.be.instanceOf(ConflictError);
    expect(await calls.update('a', { n: 2 }, { date: '2026-11-20' })).to.include({ n: 2, number: 1 });
    expect(await calls.update('a', { at: '2026-11-22' }, { date: '2026-11-20' })).to.include({
      at: Date.UTC(2026, 10, 22),
    });
    expect(await calls.replace('a', { n: 5 }, { date: '2026-11-22' })).to.include({ n: 5, at: Date.UTC(2026, 10, 22) });
    expect(await calls.replace('new', { n: 6 }, { date: '2026-11-25' })).to.include({ at: Date.UTC(2026, 10, 25) });
    expect(await calls.setup({ cmd: 'read_partitions' })).to.deep.equal(['2026-11-20', '2026-11-22', '2026-11-25']);
    expect(await failure(calls.update('a', { at: null }, { date: '2026-11-22' }))).to.be.instanceOf(InvalidFieldError);
    await calls.remove('a', { date: '2026-11-22' });
    expect(await calls.list({ interval, mask: 'id' })).to.deep.equal([{ id: 'new' }]);
  });

  it('keep ids unique per day, also for concurrent requests', async () => {
    const calls = await history({ partition_interval: 'month' });
    const at = '2026-11-20T10:00:00Z';
    const outcomes = async (writes: readonly Promise<unknown>[]): Promise<Record<string, number>> => {
      const settled = await Promise.allSettled(writes);
      const names = settled.map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as Error).name));
      return Object.fromEntries(
        [...new Set(names)].map((name) => [name, names.filter((each) => each === name).length]),
      );
    };
    const many = <T>(write: (index: number) => T): T[] => Array.from({ length: 8 }, (_, index) => write(index));
    const created = many((n) => calls.create({ id: 'a', at: Date.parse(at) + n, n }));
    expect(await outcomes(created)).to.deep.equal({ ok: 1, ConflictError: 7 });
    const together = many((n) => calls.createAll([{ id: 'b', at: Date.parse(at) + n }, { at }]));
    expect(await outcomes(together)).to.deep.equal({ ok: 1, ConflictError: 7 });
    expect(await outcomes(many((n) => calls.replace('c', { n }, { date: '2026-11-20' })))).to.deep.equal({ ok: 8 });
    await calls.create({ id: 'a', at: '2026-11-21' });
    expect(await failure(calls.update('a', { at }, { date: '2026-11-21' }))).to.be.instanceOf(ConflictError);
    expect(await calls.list({ interval, countonly: true })).to.deep.equal({ count: 5 });
  });

  it('drop, optimize and clear partitions', async () => {
    const calls = await history({ partition_interval: 'day' });
    for (const day of ['20', '21']) await calls.create({ id: day, at: `2026-11-${day}` });
    expect(await calls.setup({ cmd: 'drop_partition', partition: '2026-11-20' })).to.deep.equal({ result: 'ok' });
    expect(await failure(calls.setup({ cmd: 'drop_partition', partition: '2026-11-20' }))).to.be.instanceOf(
      NotFoundError,
    );
    expect(await failure(calls.setup({ cmd: 'drop_partition' }))).to.be.instanceOf(BadParameterError);
    await calls.create({ id: 'again', at: '2026-11-20' });
    expect(await calls.setup({ cmd: 'optimize' })).to.deep.equal({ result: 'ok' });
    expect(await calls.list({ interval, countonly: true })).to.deep.equal({ count: 2 });
    await calls.clear();
    expect(await calls.list({ interval, countonly: true })).to.deep.equal({ count: 0 });
  });

  it('repeat a write after another node has dropped its partition', async () => {
    const calls = await history();
    await calls.create({ id: 'a', at: '2026-11-20' });
    const other = await openModel(storage(), { files: NO_FILES });
    await other.collection(DOMAIN, 'calls').setup({ cmd: 'drop_partition', partition: '2026-11' });
    await calls.create({ id: 'b', at: '2026-11-20' });
    expect(await other.collection(DOMAIN, 'calls').list({ interval, mask: 'id' })).to.deep.equal([{ id: 'b' }]);
    await other.close();
  });

  it('drop partitions after store_days', async () => {
    const calls = await history({ partition_interval: 'day', store_days: 10 });
    for (const at of ['2026-11-01', '2026-11-10', '2026-11-11']) await calls.create({ at });
    const later = await openModel(storage(), { files: NO_FILES, now: () => test.time });
    expect(await calls.setup({ cmd: 'read_partitions' })).to.deep.equal(['2026-11-11']);
    await later.close();
  });

  it('have a default time property', async () => {
    const log = await test.collection({ classname: 'log', storage_mode: 'transactionlog', properties: [] });
    expect(await log.create({ id: 'a' })).to.deep.equal({ id: 'a', ts: test.time });
  });

  it('refuse invalid times', async () => {
    const calls = await history();
    for (const at of ['yesterday', -1, Date.UTC(3000, 0, 1), 1.5]) {
      expect(await failure(calls.create({ at })))
        .to.be.instanceOf(InvalidFieldError)
        .and.include({ field: 'at' });
    }
  });

  it('append only, in a transactionlog', async () => {
    const log = await history({}, 'transactionlog');
    await log.create({ id: 'a', at: '2026-11-20' });
    const date = '2026-11-20';
    for (const write of [log.replace('a', {}, { date }), log.update('a', {}, { date }), log.remove('a', { date })]) {
      expect(await failure(write)).to.be.instanceOf(CannotApplyError);
    }
  });
});
