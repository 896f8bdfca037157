import { expect } from 'chai';
import { ProcessorWatch, BUSY_FACTOR } from '../../runtime/sandbox/worker/processor-watch.ts';

describe('sandbox: processor time', () => {
  const clock = { cpu: 1000 };
  const ended: string[] = [];

  function turnOf(name: string, limitMs: number) {
    const turn = { onThreadMs: 0, limitMs, onThread: () => turn.onThreadMs, exceeded: () => ended.push(name) };
    return turn;
  }

  beforeEach(() => ended.splice(0));

  it("is the share of the process's time in which a script was on a thread", () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const long = turnOf('long', 500);
    const queued = turnOf('queued', 500);
    const late = turnOf('late', 500);
    watch.begin(long);
    watch.begin(queued);
    // Alone on a thread, and got half of the processor.
    long.onThreadMs += 100;
    clock.cpu += 50;
    watch.look();
    expect([watch.used(long), watch.used(queued)]).to.deep.equal([50, 0]);
    watch.begin(late);
    // Two threads share what there is; and the process does other things beside.
    long.onThreadMs += 100;
    late.onThreadMs += 300;
    clock.cpu += 200;
    watch.look();
    expect([watch.used(long), watch.used(late)]).to.deep.equal([100, 150]);
    clock.cpu += 900;
    late.onThreadMs += 7;
    expect(watch.end(late)).to.equal(157);
    expect([watch.end(long), watch.end(queued), watch.used(long)]).to.deep.equal([100, 0, 0]);
    watch.look();
  });

  it('ends a turn over its limit once, and no turn that only waits', () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const greedy = turnOf('greedy', 100);
    const starved = turnOf('starved', 100);
    watch.begin(greedy);
    watch.begin(starved);
    greedy.onThreadMs += 99;
    clock.cpu += 99;
    watch.look();
    expect(ended).to.deep.equal([]);
    greedy.onThreadMs += 1;
    clock.cpu += 1;
    watch.look();
    watch.look();
    expect(ended).to.deep.equal(['greedy']);
    watch.end(greedy);
    watch.end(starved);
    watch.look();
  });

  it('is bounded in waiting', async () => {
    const watch = new ProcessorWatch(() => clock.cpu);
    const over = Promise.withResolvers<void>();
    const began = performance.now();
    const turn = { ...turnOf('starved', 3), exceeded: () => over.resolve() };
    watch.begin(turn);
    await over.promise;
    expect(performance.now() - began).to.be.at.least(BUSY_FACTOR * 3 - 1);
    watch.end(turn);
    watch.look();
  });
});
