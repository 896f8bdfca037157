import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect } from 'chai';
import {
  allowedProcessors,
  countProcessors,
  keepTo,
  Nursery,
  processorTime,
  programRunner,
  withoutFirstProcessor,
} from '../../runtime/processes/index.ts';
import { processorsOf } from '../support/children.ts';

describe('processors', () => {
  const lists: readonly (readonly [string, number, string | undefined])[] = [
    ['0', 1, undefined],
    ['5', 1, undefined],
    ['0-1', 2, '1'],
    ['0-7', 8, '1-7'],
    ['0,2', 2, '2'],
    ['3-4,8-11', 6, '4,8-11'],
    ['2,4-5,7', 4, '4-5,7'],
    ['0-127', 128, '1-127'],
  ];
  for (const [list, count, left] of lists) {
    it(`of the list ${list} are ${count}, without the first ${left ?? 'none'}`, () => {
      expect(countProcessors(list)).to.equal(count);
      expect(withoutFirstProcessor(list)).to.equal(left);
    });
  }

  it('that a process may use are found, and what it has used', function () {
    if (process.platform !== 'linux') this.skip();
    expect(allowedProcessors()).to.equal(processorsOf('self'));
    const before = processorTime(process.pid) ?? Number.NaN;
    const start = process.cpuUsage();
    const spent = ({ user, system } = process.cpuUsage(start)): number => (user + system) / 1000;
    while (spent() < 100);
    expect((processorTime(process.pid) ?? Number.NaN) - before).to.be.within(80, 5000);
  });

  it('are those that a process is kept to; one that is gone, or a list that there is not, changes nothing', async function () {
    if (process.platform !== 'linux') this.skip();
    const nursery = new Nursery();
    const run = programRunner(nursery);
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    try {
      const all = processorsOf(pid);
      const last = all.split(/[,-]/).at(-1) ?? '';
      await keepTo(run, pid, last);
      expect(processorsOf(pid)).to.equal(last);
      await keepTo(run, pid, '99999');
      expect(processorsOf(pid)).to.equal(last);
      await keepTo(run, pid, all);
      expect(processorsOf(pid)).to.equal(all);
      const gone = once(child, 'exit');
      child.kill();
      await gone;
      await keepTo(run, pid, all);
      expect(processorTime(pid)).to.equal(undefined);
    } finally {
      child.kill();
      nursery.close();
    }
  });
});
