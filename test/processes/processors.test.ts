import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { expect } from 'chai';
import {
  allowedProcessors,
  idleTimes,
  keepTo,
  Nursery,
  processorsIn,
  processorTime,
  programRunner,
  withoutFirstProcessor,
} from '../../runtime/processes/index.ts';
import { processorsOf } from '../support/children.ts';

describe('processors', () => {
  const lists: readonly (readonly [string, readonly number[], string | undefined])[] = [
    ['0', [0], undefined],
    ['5', [5], undefined],
    ['0-1', [0, 1], '1'],
    ['0-7', [0, 1, 2, 3, 4, 5, 6, 7], '1-7'],
    ['0,2', [0, 2], '2'],
    ['3-4,8-11', [3, 4, 8, 9, 10, 11], '4,8-11'],
    ['2,4-5,7', [2, 4, 5, 7], '4-5,7'],
  ];
  for (const [list, numbers, left] of lists) {
    it(`of the list ${list} are ${numbers.join(', ')}, without the first ${left ?? 'none'}`, () => {
      expect(processorsIn(list)).to.deep.equal(numbers);
      expect(withoutFirstProcessor(list)).to.equal(left);
    });
  }

  it('of a process are read, with the time that it has used', function () {
    if (process.platform !== 'linux') this.skip();
    expect(allowedProcessors()).to.equal(processorsOf('self'));
    const before = processorTime(process.pid) ?? Number.NaN;
    const start = process.cpuUsage();
    const spent = ({ user, system } = process.cpuUsage(start)): number => (user + system) / 1000;
    while (spent() < 100);
    expect((processorTime(process.pid) ?? Number.NaN) - before).to.be.within(80, 5000);
  });

  it('have been idle for no longer than they exist', function () {
    if (process.platform !== 'linux') this.skip();
    const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
    const idle = idleTimes();
    expect([...idle.keys()]).to.include.members(processorsIn(allowedProcessors() ?? ''));
    for (const each of idle.values()) expect(each).to.be.within(1, uptimeMs + 1000);
  });

  it('are restricted for a process; an ended process or an unknown list changes nothing', async function () {
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
