import { expect } from 'chai';
import { Budget } from '../../runtime/sandbox/host/budget.ts';
import { Pace } from '../../runtime/sandbox/host/pace.ts';
import { DEFAULT_LIMITS } from '../../runtime/sandbox/limits.ts';

describe('sandbox: budget', () => {
  it('counts commands, pending ones, and timers among them', () => {
    const budget = new Budget({ ...DEFAULT_LIMITS, commands: 6, pendingCommands: 2, timers: 1 });
    expect(budget.countCommand(1, 'sleep')).to.equal(undefined);
    expect(budget.countCommand(2, 'sleep')).to.equal('timers');
    budget.settle(2);
    expect(budget.countCommand(3, 'play')).to.equal('pendingCommands');
    budget.settle(3);
    budget.beginTurn();
    expect(budget.countCommand(3, 'play')).to.equal(undefined);
    expect(budget.countCommand(4, 'play')).to.equal('pendingCommands');
    budget.settle(1);
    budget.settle(4);
    budget.beginTurn();
    expect(budget.countCommand(5, 'sleep')).to.equal(undefined);
    expect(budget.countCommand(6, 'play')).to.equal('commands');
    expect(budget.usage()).to.deep.equal({ commands: 7, logLines: 0, logBytes: 0 });
  });

  it('counts log lines and bytes', () => {
    const budget = new Budget({ ...DEFAULT_LIMITS, logLines: 2, logBytes: 5 });
    expect(budget.countLog('€')).to.equal(undefined);
    expect(budget.countLog('abc')).to.equal('logBytes');
    expect(budget.countLog('')).to.equal('logLines');
  });

  it('limits the rate: a burst of one second’s worth, then one per interval; long texts cost more', () => {
    const pace = new Pace(10);
    const wait = (now: number): number => {
      pace.command(now);
      return pace.wait(now);
    };
    const waits = Array.from({ length: 12 }, () => wait(5000));
    expect(waits.slice(0, 10)).to.deep.equal(Array(10).fill(0));
    expect(waits.slice(10)).to.deep.equal([100, 200]);
    expect(wait(5100)).to.equal(200);
    expect(wait(10_000)).to.equal(0);
    pace.crossed(20_000, 20 * 4096);
    expect(pace.wait(20_000)).to.equal(1000);
  });
});
