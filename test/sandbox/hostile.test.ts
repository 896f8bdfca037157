import process from 'node:process';
import { expect } from 'chai';
import { type Sandbox, type ScriptRun, openSandbox } from '../../runtime/sandbox/index.ts';
import { HOSTILE, hostile, UNSTOPPABLE } from '../support/hostile-scripts.ts';
import { errorOf, startScript } from './support.ts';

/** Longest time on the processor between two turns of this thread's event loop, in milliseconds. */
function watchTurns(): { stop(): number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  }, 1);
  return {
    stop: () => {
      clearInterval(timer);
      return longest;
    },
  };
}

describe('sandbox: hostile scripts', function () {
  this.timeout(20_000);
  let sandbox: Sandbox;
  /** Runs in the same process all the while. */
  let innocent: ScriptRun;
  let asked = 0;
  let turns: ReturnType<typeof watchTurns>;

  before(async () => {
    sandbox = await openSandbox({ workers: 1, memoryMb: 4096 });
    innocent = startScript(sandbox, {
      source: 'let n = 0; while (await echo(n)) { n++; await sleep(5); } return n;',
      limits: { cpuMs: 60_000 },
      onCommand: async (name) => {
        if (name === 'sleep') return new Promise((resolve) => setTimeout(resolve, 5));
        asked++;
        return !over;
      },
    });
    innocent.finished.catch(() => undefined);
    turns = watchTurns();
  });

  let over = false;
  after(() => sandbox.close());

  for (const name of Object.keys(HOSTILE)) {
    const { source, codes } = hostile(name);
    it(`end with a typed error: ${name}`, async () => {
      const before = asked;
      const run = startScript(sandbox, {
        source,
        limits: { activationMs: 150, cpuMs: 1000, memoryMb: 16, commands: 200, wallMs: 3000 },
        onCommand: async (command, args) => {
          if (command === 'sleep') return new Promise(() => undefined);
          run.emit({ type: 'go' });
          return args;
        },
      });
      const error = await errorOf(run);
      expect(error.code, error.message).to.be.oneOf(codes);
      await progress(before);
    });
  }

  for (const [name, source] of Object.entries(UNSTOPPABLE)) {
    it(`end with a typed error, although they continue: ${name}`, async () => {
      const before = asked;
      const error = await errorOf(startScript(sandbox, { source, limits: { activationMs: 100 } }));
      expect(error.code, error.message).to.equal('limit');
      await progress(before);
    });
  }

  it('do not affect concurrent runs and the host', async () => {
    over = true;
    expect((await innocent.finished).value).to.be.greaterThan(100);
    // A script on this thread would hold it for the 100 ms of its limit; collecting this process's own garbage takes 25.
    expect(turns.stop()).to.be.lessThan(100);
  });

  it('leave the sandbox able to serve new runs', async () => {
    expect((await startScript(sandbox, { source: 'return 1' }).finished).value).to.equal(1);
  });

  /** The innocent run goes on. */
  async function progress(since: number): Promise<void> {
    const deadline = performance.now() + 5000;
    while (asked <= since + 1) {
      if (performance.now() > deadline) throw new Error('the run beside it stands still');
      // oxlint-disable-next-line eslint/no-await-in-loop
      await Promise.race([innocent.finished, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
  }
});
