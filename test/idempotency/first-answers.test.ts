import { expect } from 'chai';
import { FirstAnswers, KEEP_MS } from '../../runtime/idempotency/first-answers.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

const request = { userId: 'u1', key: 'k1', request: 'call 101' };

describeStorages('requests with an Idempotency-Key', (newPlace) => {
  const storage = withStorage(newPlace);
  let done: string[];
  let answers: FirstAnswers;
  beforeEach(() => {
    done = [];
    answers = new FirstAnswers(storage());
  });
  const work = (what: string) => async () => {
    done.push(what);
    return { what };
  };

  it('are executed once, and repeats get the first answer', async () => {
    expect(await answers.once(request, work('first'))).to.deep.equal({ answer: { what: 'first' }, replayed: false });
    expect(await answers.once(request, work('second'))).to.deep.equal({ answer: { what: 'first' }, replayed: true });
    // After a restart too.
    const later = new FirstAnswers(storage());
    expect(await later.once(request, work('third'))).to.deep.equal({ answer: { what: 'first' }, replayed: true });
    expect(done).to.deep.equal(['first']);
  });

  it('that arrive together wait for the first one', async () => {
    const hold = Promise.withResolvers<void>();
    const first = answers.once(request, async () => {
      await hold.promise;
      return { what: 'first' };
    });
    const repeats = ['second', 'third'].map((what) => answers.once(request, work(what)));
    hold.resolve();
    expect(await first).to.include({ replayed: false });
    for (const repeat of repeats) expect(await repeat).to.deep.equal({ answer: { what: 'first' }, replayed: true });
    expect(done).to.deep.equal([]);
  });

  it('are independent for another user or another key', async () => {
    await answers.once(request, work('one'));
    await answers.once({ ...request, userId: 'u2' }, work('two'));
    await answers.once({ ...request, key: 'k2' }, work('three'));
    expect(done).to.deep.equal(['one', 'two', 'three']);
  });

  it('are refused when the key was used for another request', async () => {
    await answers.once(request, work('one'));
    const other = await answers.once({ ...request, request: 'call 102' }, work('two'));
    expect(other).to.deep.equal({ refused: 'other_request' });
    expect(done).to.deep.equal(['one']);
  });

  it('that failed without effect may be repeated', async () => {
    const failed = await answers
      .once(request, () => Promise.reject(new Error('busy')))
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error).with.property('message', 'busy');
    expect(await answers.once(request, work('again'))).to.deep.equal({ answer: { what: 'again' }, replayed: false });
  });

  it('that were cut off by the end of the node are not repeated', async () => {
    const begun = Promise.withResolvers<void>();
    void answers.once(request, () => {
      begun.resolve();
      return new Promise<{ what: string }>(() => undefined);
    });
    await begun.promise;
    const later = new FirstAnswers(storage());
    expect(await later.once(request, work('again'))).to.deep.equal({ refused: 'cut_off' });
    expect(done).to.deep.equal([]);
  });

  it('are kept for a day', async () => {
    let now = 1_000_000;
    const timed = new FirstAnswers(storage(), () => now);
    await timed.once(request, work('one'));
    now += KEEP_MS - 1;
    expect(await timed.once(request, work('two'))).to.include({ replayed: true });
    now += 1;
    expect(await timed.once(request, work('three'))).to.include({ replayed: false });
    expect(done).to.deep.equal(['one', 'three']);
  });
});
