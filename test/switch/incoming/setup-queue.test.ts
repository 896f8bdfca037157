import { expect } from 'chai';
import { SetupQueue } from '../../../runtime/switch/incoming/setup-queue.ts';
import { percentile } from '../../bench/support/percentile.ts';

/** Milliseconds that the simulated media server works on one endpoint; two make a call, so it carries 125 calls a second. */
const WORK_MS = 4;
const CAPACITY = 1000 / (2 * WORK_MS);

interface Load {
  /** Times of the calls, ms. */
  readonly calls: readonly number[];
  readonly workMs?: number;
  /** Added to each endpoint, without work. @param now ms */
  readonly latencyMs?: (now: number) => number;
  /** Endpoints are ready only at multiples of it, as at the turns of a busy event loop. */
  readonly turnMs?: number;
  /** The process stands still: calls come, and endpoints are ready, only when it goes on. */
  readonly stopped?: { readonly from: number; readonly to: number };
  /** Endpoints that never come, and fail after five seconds. */
  readonly hangs?: (endpoint: number) => boolean;
}

interface Outcome {
  /** Times of the refused calls, ms. */
  readonly refused: readonly number[];
  /** Milliseconds from the call to its last endpoint, of the accepted calls. */
  readonly tookMs: readonly number[];
}

/** Random numbers from 0 to 1, the same ones at each run (Park and Miller's generator). */
function seeded(): () => number {
  let seed = 7;
  return () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
}

/** Plays calls against one media server that makes an endpoint after the other. */
function play({ calls, workMs = WORK_MS, latencyMs = () => 0, turnMs = 1, stopped, hangs }: Load): Outcome {
  let now = 0;
  let free = 0;
  let endpoints = 0;
  const random = seeded();
  const queue = new SetupQueue(() => now);
  const events: { at: number; run: () => void }[] = [];
  const at = (time: number, run: () => void): void => {
    const standsStill = stopped !== undefined && time >= stopped.from && time < stopped.to;
    const event = { at: standsStill ? stopped.to : time, run };
    const before = events.findIndex((each) => each.at > event.at);
    events.splice(before < 0 ? events.length : before, 0, event);
  };
  const refused: number[] = [];
  const tookMs: number[] = [];
  for (const time of calls) {
    at(time, () => {
      if (queue.refuses()) {
        refused.push(now);
        return;
      }
      let left = 2;
      const began = now;
      for (const _ of [1, 2]) {
        const end = queue.begin();
        endpoints += 1;
        if (hangs?.(endpoints) === true) {
          at(now + 5000, () => end(false));
          continue;
        }
        free = Math.max(free, now) + 2 * workMs * random();
        at(Math.ceil((free + latencyMs(now)) / turnMs) * turnMs, () => {
          end(true);
          left -= 1;
          if (left === 0) tookMs.push(now - began);
        });
      }
    });
  }
  for (let event = events.shift(); event !== undefined; event = events.shift()) {
    now = event.at;
    event.run();
  }
  return { refused, tookMs };
}

/** Calls at random times, as from many phones. */
function load(perSecond: number, seconds: number, from = 0): number[] {
  const random = seeded();
  return Array.from({ length: Math.round(perSecond * seconds) }, () => from + random() * seconds * 1000).toSorted(
    (a, b) => a - b,
  );
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5) ?? 0;
}

const atOnce = (count: number): number[] => Array.from({ length: count }, () => 0);

describe('the queue of endpoints', () => {
  for (const factor of [0.5, 0.8, 0.95]) {
    it(`refuses nothing at ${factor} of the capacity`, () => {
      expect(play({ calls: load(factor * CAPACITY, 60) }).refused).to.have.lengthOf(0);
    });
  }

  for (const factor of [1.2, 1.5, 2, 3]) {
    it(`carries the whole capacity in time at ${factor} times of it`, () => {
      const seconds = 20;
      const { refused, tookMs } = play({ calls: load(factor * CAPACITY, seconds) });
      expect(tookMs.length / seconds).to.be.within(0.97 * CAPACITY, 1.05 * CAPACITY);
      expect(refused.length).to.be.greaterThan(0);
      // The longest ones are those accepted before the overload was noticed.
      expect(Math.max(...tookMs)).to.be.below(800);
      expect(median(tookMs)).to.be.below(300);
    });
  }

  it('sets calls up as fast when many endpoints are ready at once', () => {
    const { tookMs } = play({ calls: load(3 * CAPACITY, 20), turnMs: 120 });
    expect(tookMs.length / 20).to.be.within(0.97 * CAPACITY, 1.05 * CAPACITY);
    expect(median(tookMs)).to.be.below(400);
  });

  it('bounds the time of the first calls at 20 times the capacity', () => {
    const seconds = 10;
    const { tookMs } = play({ calls: load(20 * CAPACITY, seconds) });
    expect(tookMs.length / seconds).to.be.within(0.97 * CAPACITY, 1.2 * CAPACITY);
    expect(Math.max(...tookMs)).to.be.below(1800);
  });

  for (const [machine, workMs] of [
    ['an idle', WORK_MS],
    ['a slow', 30],
  ] as const) {
    it(`refuses nothing of 20 calls at once on ${machine} machine`, () => {
      expect(play({ calls: atOnce(20), workMs }).refused).to.have.lengthOf(0);
    });
  }

  it('refuses nothing of a hundred calls at once', () => {
    expect(play({ calls: atOnce(100) }).refused).to.have.lengthOf(0);
  });

  for (const factor of [0.3, 0.6]) {
    it(`refuses nothing after a stop of a second at ${factor} of the capacity`, () => {
      const calls = load(factor * CAPACITY, 10);
      expect(play({ calls, stopped: { from: 5000, to: 6000 } }).refused).to.have.lengthOf(0);
    });
  }

  it('refuses no more calls than a stop of a second has delayed at 0.9 of the capacity', () => {
    const calls = load(0.9 * CAPACITY, 20);
    const { refused } = play({ calls, stopped: { from: 5000, to: 6000 } });
    expect(refused.length).to.be.below(0.9 * CAPACITY);
    expect(refused.at(-1)).to.be.below(8000);
  });

  it('refuses nothing because endpoints are far away', () => {
    expect(play({ calls: load(0.5 * CAPACITY, 20), latencyMs: () => 300 }).refused).to.have.lengthOf(0);
  });

  it('refuses nothing because endpoints are far away now', () => {
    const calls = [...load(3, 60), ...load(0.5 * CAPACITY, 20, 60_000)];
    expect(play({ calls, latencyMs: (now) => (now < 20_000 ? 0 : 300) }).refused).to.have.lengthOf(0);
  });

  it('refuses nothing because one of two media servers hangs', () => {
    const calls = load(0.5 * CAPACITY, 20);
    expect(play({ calls, hangs: (endpoint) => endpoint % 4 === 0 }).refused).to.have.lengthOf(0);
  });

  it('refuses nothing once the overload is over', () => {
    const { refused } = play({ calls: [...load(3 * CAPACITY, 5), ...load(0.8 * CAPACITY, 20, 5000)] });
    expect(refused.at(-1)).to.be.within(4900, 5500);
  });

  it('refuses calls to a slow media server at its own rate', () => {
    const { tookMs } = play({ calls: load(30, 20), workMs: 50 });
    expect(tookMs.length / 20).to.be.within(9.5, 12);
    // No longer than the few endpoints that are no queue take.
    expect(Math.max(...tookMs)).to.be.below(1600);
  });

  it('refuses the calls after two hundred of which not one has an endpoint', () => {
    const queue = new SetupQueue(() => 0);
    const calls = Array.from({ length: 300 }, () => {
      const refused = queue.refuses();
      if (!refused) for (const _ of [1, 2]) queue.begin();
      return refused;
    });
    expect(calls.indexOf(true)).to.equal(200);
    expect(calls.lastIndexOf(false)).to.equal(199);
  });

  it('limits its calls during an overload only, and reports each change', () => {
    let now = 0;
    const queue = new SetupQueue(() => now);
    let changes = 0;
    queue.onChange = () => {
      changes += 1;
    };
    expect([queue.room, queue.empty]).to.deep.equal([undefined, true]);
    // Each endpoint takes 4 ms, and twice as many come.
    const waiting = Array.from({ length: 200 }, () => queue.begin());
    while (!queue.refuses() && now < 10_000) {
      now += 4;
      waiting.shift()?.(true);
      waiting.push(queue.begin(), queue.begin());
    }
    expect([queue.refuses(), queue.room, queue.empty]).to.deep.equal([true, 0, false]);
    while (queue.room === 0) {
      now += 4;
      waiting.shift()?.(true);
    }
    expect(queue.refuses()).to.equal(false);
    expect(queue.waitMs).to.be.within(100, 160);
    // Calls that have passed the SIP server already.
    queue.coming = () => 200;
    expect(queue.refuses()).to.equal(true);
    const before = changes;
    for (const end of waiting) end(true);
    expect([changes - before, queue.room, queue.empty]).to.deep.equal([waiting.length, undefined, true]);
  });

  it('counts an endpoint that fails out of the queue', async () => {
    const queue = new SetupQueue();
    await queue.measure(() => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(await queue.measure(() => Promise.resolve('made'))).to.equal('made');
    expect(queue.waitMs).to.equal(0);
  });
});
