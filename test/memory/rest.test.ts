import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Rest } from '../../runtime/memory/rest.ts';

const MB = 2 ** 20;

describe('memory at rest', () => {
  let heap: number;
  let rest: Rest;
  beforeEach(() => {
    heap = 50 * MB;
    rest = new Rest(() => heap, { afterStartMs: 5, afterWorkMs: 35 });
  });

  /** Looks once a millisecond; a thread that gives back has 50 MB again. @returns when it gave back */
  function looks(from: number, to: number, works: boolean): number[] {
    const when: number[] = [];
    for (let now = from; now < to; now += 1) {
      if (!rest.look(now, works)) continue;
      when.push(now);
      heap = 50 * MB;
      rest.gaveBack();
    }
    return when;
  }

  it('is returned once after the work, when transactions have expired', () => {
    looks(0, 10, true);
    heap = 90 * MB;
    expect(looks(10, 1000, false)).to.deep.equal([44]);
  });

  it('is returned soon after the start', () => {
    expect(looks(0, 1000, false)).to.deep.equal([5]);
  });

  it('is not returned during work', () => {
    looks(0, 1000, false);
    heap = 90 * MB;
    expect(looks(1000, 2000, true)).to.deep.equal([]);
    expect(looks(2000, 2034, false)).to.deep.equal([]);
    expect(looks(2034, 3000, true)).to.deep.equal([]);
  });

  it('is not returned after a few calls', () => {
    looks(0, 1000, false);
    heap += 7 * MB;
    looks(1000, 1010, true);
    expect(looks(1010, 2000, false)).to.deep.equal([]);
    looks(2000, 2010, true);
    heap += MB;
    expect(looks(2010, 3000, false)).to.deep.equal([2044]);
  });

  it("is the thread's garbage", async () => {
    const thread = new Worker(new URL('resting-thread.ts', import.meta.url));
    const [{ before, after }] = (await once(thread, 'message')) as [{ before: number; after: number }];
    await thread.terminate();
    expect(after).to.be.lessThan(before - 20 * MB);
  });
});
