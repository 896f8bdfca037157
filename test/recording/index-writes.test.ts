import { expect } from 'chai';
import { IndexWrites } from '../../runtime/recording/index-writes.ts';
import { StorageUnavailableError } from '../../runtime/storage/index.ts';
import { eventually } from '../support/eventually.ts';

describe('writes into the index of recordings', () => {
  let isAway: boolean;
  let done: string[];
  let writes: IndexWrites;
  beforeEach(() => {
    [isAway, done, writes] = [false, [], new IndexWrites()];
  });

  const write = (name: string) => async (): Promise<void> => {
    if (isAway) throw new StorageUnavailableError('away');
    if (name === 'wrong') throw new TypeError(name);
    done.push(name);
  };

  it('are done at once, and their errors told', async () => {
    await writes.do(write('one'));
    expect(done).to.deep.equal(['one']);
    await expectRejected(writes.do(write('wrong')), TypeError);
    expect(await writes.close()).to.equal(0);
  });

  it('wait for a database that is away, and keep their order', async () => {
    isAway = true;
    for (const name of ['add', 'wrong', 'finish']) await writes.do(write(name));
    isAway = false;
    await writes.do(write('later'));
    expect(done, 'behind the ones that wait').to.deep.equal([]);
    await eventually(async () => expect(done).to.deep.equal(['add', 'finish', 'later']));
    await writes.do(write('next'));
    expect(done.at(-1)).to.equal('next');
  });

  it('are tried before the history reads the index, and counted when the node stops without them', async () => {
    isAway = true;
    await writes.do(write('add'));
    await expectRejected(writes.caughtUp(), StorageUnavailableError);
    isAway = false;
    await writes.caughtUp();
    expect(done).to.deep.equal(['add']);
    const slow = Promise.withResolvers<void>();
    const begun = writes.do(() => slow.promise.then(() => done.push('slow')));
    const caughtUp = writes.caughtUp().then(() => done.push('read'));
    slow.resolve();
    await Promise.all([begun, caughtUp]);
    expect(done).to.deep.equal(['add', 'slow', 'read']);
    isAway = true;
    await writes.do(write('lost'));
    expect(await writes.close()).to.equal(1);
  });
});

async function expectRejected(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => Error,
): Promise<void> {
  let error: unknown;
  await promise.catch((caught: unknown) => {
    error = caught;
  });
  expect(error).to.be.instanceOf(type);
}
