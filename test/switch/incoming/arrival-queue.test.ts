import { expect } from 'chai';
import { ArrivalQueue } from '../../../runtime/switch/incoming/arrival-queue.ts';

/** Milliseconds of the simulated main thread for a call; the first fifth when it comes, the rest a little later. */
const WORK_MS = 4;
const FIRST_MS = WORK_MS / 5;
const CAPACITY = 1000 / WORK_MS;

interface Outcome {
  /** Times of calls that the SIP server refused, ms. */
  readonly atDoor: readonly number[];
  /** Milliseconds that calls had waited when the main thread refused them. */
  readonly late: readonly number[];
  /** Milliseconds until the main thread had done all of an accepted call. */
  readonly tookMs: readonly number[];
}

/**
 * Plays calls against one thread that takes what comes in order.
 * @param perSecond calls
 * @param stop milliseconds for which the thread stands still after a second
 */
function play(perSecond: number, seconds: number, stop = 0): Outcome {
  let now = 0;
  const passed: number[] = [];
  const queue = new ArrivalQueue(
    () => passed.length,
    () => now,
  );
  const outcome = { atDoor: [] as number[], late: [] as number[], tookMs: [] as number[] };
  /** What the thread still has to do: a call that comes, or the rest of one. */
  const work: (() => number)[] = [];
  const take = (at: number) => (): number => {
    passed.shift();
    queue.came(now - at);
    if (queue.refuses()) {
      outcome.late.push(now - at);
      return 0.5;
    }
    work.push(() => {
      outcome.tookMs.push(now - at);
      return WORK_MS - FIRST_MS;
    });
    return FIRST_MS;
  };
  let free = 0;
  for (let call = 0; call < perSecond * seconds; call += 1) {
    const at = (call * 1000) / perSecond;
    while (work.length > 0 && free <= at) {
      now = free;
      free += (work.shift() as () => number)();
      if (stop > 0 && now >= 1000) free += stop;
      if (now >= 1000) stop = 0;
    }
    now = at;
    free = Math.max(free, at);
    const { room } = queue;
    if (room !== undefined && passed.length >= room) outcome.atDoor.push(at);
    else {
      passed.push(at);
      work.push(take(at));
    }
  }
  return outcome;
}

describe('the queue of calls that come', () => {
  for (const factor of [0.5, 0.9]) {
    it(`refuses nothing at ${factor} of the capacity, nor after a stop of a fifth of a second`, () => {
      const { atDoor, late } = play(factor * CAPACITY, 10, 200);
      expect([atDoor.length, late.length]).to.deep.equal([0, 0]);
    });
  }

  for (const factor of [1.5, 2, 3]) {
    it(`carries the capacity in time at ${factor} times of it, and refuses at the door`, () => {
      const { atDoor, late, tookMs } = play(factor * CAPACITY, 10);
      expect(tookMs.length / 10).to.be.within(0.95 * CAPACITY, 1.1 * CAPACITY);
      expect(Math.max(...tookMs)).to.be.below(1000);
      expect(tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1]).to.be.below(300);
      // Only in the beginning are calls refused that were on their way.
      expect(late.length).to.be.below(0.1 * atDoor.length);
    });
  }

  /** A queue, its clock and its length, to be set. */
  function queueAt(): { queue: ArrivalQueue; state: { now: number; coming: number } } {
    const state = { now: 0, coming: 0 };
    const queue = new ArrivalQueue(
      () => state.coming,
      () => state.now,
    );
    queue.came(1);
    return { queue, state };
  }

  it('refuses none of twenty calls, however slow the machine is', () => {
    const { queue, state } = queueAt();
    for (state.coming = 19; state.coming >= 0; state.coming -= 1) {
      state.now += 100;
      queue.came(state.now);
      expect([queue.room, queue.refuses()]).to.deep.equal([undefined, false]);
    }
  });

  it('opens the door once the overload is over', () => {
    const { queue, state } = queueAt();
    state.coming = 100;
    for (let call = 0; call < 40; call += 1) {
      state.now += 10;
      queue.came(300);
    }
    expect([queue.room, queue.refuses(), queue.flows]).to.deep.equal([100, false, false]);
    queue.came(500);
    expect(queue.refuses()).to.equal(true);
    while (state.coming > 0) {
      state.coming -= 1;
      queue.came(state.coming);
    }
    expect([queue.room, queue.refuses(), queue.flows]).to.deep.equal([undefined, false, true]);
  });
});
