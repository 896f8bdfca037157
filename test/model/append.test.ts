import { expect } from 'chai';
import { CannotApplyError, InvalidFieldError } from '../../runtime/model/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { emptyModel, removeClasses, type TestModel } from './support/model.ts';

describeStorages('append to a history', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;

  beforeEach(async () => {
    test = await emptyModel(storage());
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const make = (mode = 'history') =>
    test.collection({
      classname: 'calls',
      storage_mode: mode,
      properties: [{ name: 'n', data_type: 'int' }],
      ...(mode === 'history' && { opts: { partition_interval: 'day' } }),
    });
  const day = Date.UTC(2026, 10, 21);
  const all = { interval: ['2026-11-01', '2026-12-01'], order: ['ts'], mask: 'id,n' };

  it('creates what is new, leaves the rest as it is, and tells nobody', async () => {
    const calls = await make();
    await calls.append([
      { id: 'a', ts: day, n: 1 },
      { id: 'b', ts: day + 86_400_000, n: 2 },
    ]);
    await calls.append([
      { id: 'a', ts: day, n: 9 },
      { id: 'c', ts: day + 1, n: 3 },
      { id: 'b', ts: day + 86_400_000, n: 9 },
    ]);
    expect(await calls.list(all)).to.deep.equal([
      { id: 'a', n: 1 },
      { id: 'c', n: 3 },
      { id: 'b', n: 2 },
    ]);
    expect(test.changes).to.deep.equal([]);
  });

  it('writes nothing when one of them is wrong', async () => {
    const calls = await make();
    const wrong = failure(
      calls.append([
        { id: 'a', ts: day },
        { id: 'b', ts: day, n: 'x' },
      ]),
    );
    expect(await wrong)
      .to.be.instanceOf(InvalidFieldError)
      .and.have.property('field', '1.n');
    expect(await calls.list(all)).to.deep.equal([]);
  });

  for (const mode of ['category', 'ram']) {
    it(`is not for ${mode}`, async () => {
      const calls = await make(mode);
      expect(await failure(calls.append([{ id: 'a' }]))).to.be.instanceOf(CannotApplyError);
    });
  }
});
