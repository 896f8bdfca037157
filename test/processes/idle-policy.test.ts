import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect } from 'chai';
import { idleOrder, mayEndIdlePolicy, Nursery, programRunner, setIdlePolicy } from '../../runtime/processes/index.ts';
import { policiesOf, SCHED_IDLE, SCHED_OTHER } from '../support/children.ts';

const INDEX = new URL('../../runtime/processes/index.ts', import.meta.url).href;
const NOBODY = 65_534;

describe('the idle scheduling policy', () => {
  it('is set for all threads of a process, and reset; an ended process changes nothing', async function () {
    if (process.platform !== 'linux') this.skip();
    const nursery = new Nursery();
    const run = programRunner(nursery);
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); console.log("up")']);
    const { pid = 0 } = child;
    try {
      await once(child.stdout, 'data');
      const threads = policiesOf(pid).length;
      expect(threads).to.be.greaterThan(1);
      await setIdlePolicy(run, pid, true);
      expect(policiesOf(pid)).to.deep.equal(Array.from({ length: threads }, () => SCHED_IDLE));
      await setIdlePolicy(run, pid, false);
      expect(policiesOf(pid)).to.deep.equal(
        Array.from({ length: threads }, () => (mayEndIdlePolicy(0) ? SCHED_OTHER : SCHED_IDLE)),
      );
      const gone = once(child, 'exit');
      child.kill();
      await gone;
      await setIdlePolicy(run, pid, true);
    } finally {
      child.kill();
      nursery.close();
    }
  });

  it('is set for a process from its start, without an environment', async function () {
    if (process.platform !== 'linux') this.skip();
    const nursery = new Nursery();
    try {
      const up = Promise.withResolvers<number>();
      const shown = Promise.withResolvers<string>();
      const script =
        'process.stderr.write(JSON.stringify([process.env, process.argv.slice(1)])); setInterval(() => {}, 1e6)';
      const args = ['-e', script, 'a b', '$0'];
      const kill = nursery.start(idleOrder({ program: process.execPath, args }), {
        started: (pid) => up.resolve(pid),
        words: (text) => shown.resolve(text),
        gone: (reason) => shown.reject(new Error(reason)),
        orphaned: () => undefined,
      });
      const pid = await up.promise;
      expect(JSON.parse(await shown.promise)).to.deep.equal([{}, ['a b', '$0']]);
      expect([...new Set(policiesOf(pid))]).to.deep.equal([SCHED_IDLE]);
      kill();
    } finally {
      nursery.close();
    }
  });

  it('can be reset by root, and by others within their limit of the nice value', function () {
    if (process.platform !== 'linux') this.skip();
    const asked = (capabilities: string, limit: string): boolean[] => {
      const read = (name: string): string =>
        name === 'status'
          ? `Name:\tnode\nCapPrm:\t000001ffffffffff\nCapEff:\t${capabilities}\nCapBnd:\t000001ffffffffff\n`
          : `Limit     Soft Limit  Hard Limit  Units\nMax nice priority         ${limit}        40\nMax realtime priority     0    0\n`;
      return [0, 10, 19].map((nice) => mayEndIdlePolicy(nice, read));
    };
    const none = '0000000000000000';
    expect(asked('000001ffffffffff', '0')).to.deep.equal([true, true, true]);
    expect(asked('0000000000800000', '0')).to.deep.equal([true, true, true]);
    expect(asked(none, '0')).to.deep.equal([false, false, false]);
    expect(asked(none, '1')).to.deep.equal([false, false, true]);
    expect(asked(none, '10')).to.deep.equal([false, true, true]);
    expect(asked(none, '20')).to.deep.equal([true, true, true]);
  });

  it('can be reset where the kernel permits it, and nowhere else', function () {
    if (process.platform !== 'linux') this.skip();
    const ask = `
      const { spawnSync } = await import('node:child_process');
      const { mayEndIdlePolicy } = await import('${INDEX}');
      const chrt = (policy) => spawnSync('chrt', ['--all-tasks', policy, '--pid', '0', String(process.pid)]).status;
      console.log(JSON.stringify([mayEndIdlePolicy(0), chrt('--idle') === 0, chrt('--other') === 0]));`;
    const asked = (uid?: number): unknown =>
      JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', ask], { uid, encoding: 'utf8' }).stdout);
    const may = mayEndIdlePolicy(0);
    expect(asked()).to.deep.equal([may, true, may]);
    if (process.getuid?.() === 0) expect(asked(NOBODY)).to.deep.equal([false, true, false]);
  });
});
