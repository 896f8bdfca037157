import { readFileSync } from 'node:fs';
import process from 'node:process';
import { expect } from 'chai';
import { type Birth, Nursery } from '../../runtime/processes/index.ts';
import { SandboxLostError, openLazySandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { childrenOf } from '../support/children.ts';
import { errorOf, startScript } from './support.ts';

/** Milliseconds in which no script gives up its isolate during a test. */
const LONG = 600_000;

/** Uses up its process: V8 cannot interrupt it. */
const UNSTOPPABLE = 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);';

/** More than the parser of Node.js has room for. */
const NESTED = `return ${'('.repeat(3000)}1${')'.repeat(3000)};`;

describe('sandbox: processes', function () {
  this.timeout(15_000);

  it('loses only the runs of a killed process, and continues', async () => {
    const sandbox = await openSandbox({ workers: 2 });
    try {
      const asked = new Set<string>();
      const both = Promise.withResolvers<void>();
      const source = 'await echo(); await sleep(400); return 1';
      const runs = ['a', 'b'].map((version) =>
        startScript(sandbox, {
          version,
          source,
          onCommand: async (name) => {
            if (name === 'echo') return null;
            asked.add(version);
            if (asked.size === 2) both.resolve();
            return new Promise((resolve) => setTimeout(resolve, 400));
          },
        }),
      );
      const ends = Promise.allSettled(runs.map(({ finished }) => finished));
      await both.promise;
      const [victim = 0] = sandbox.pids;
      process.kill(victim, 'SIGKILL');
      const results = await ends;
      const lost = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
      expect(results.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
      expect(lost[0]).to.be.instanceOf(SandboxLostError);
      expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
    } finally {
      await sandbox.close();
    }
  });

  it('collects no compiled WebAssembly, which could stop all isolates of a process', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const [pid = 0] = sandbox.pids;
      // The accident takes hundreds of processes that remove types while isolates end: see worker-process.ts.
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).to.include('--no-wasm-code-gc');
    } finally {
      await sandbox.close();
    }
  });

  it('starts one process for the first source, and all when it is asked to', async () => {
    const sandbox = await openLazySandbox({ workers: 2 });
    try {
      expect(sandbox.pids).to.deep.equal([]);
      const { ok } = await sandbox.compile({ source: 'return 1', format: 'js', kind: 'block', file: 'x' });
      expect([ok, sandbox.pids.length]).to.deep.equal([true, 1]);
      const run = startScript(sandbox, { source: 'return 2' });
      await sandbox.startAll();
      expect(sandbox.pids).to.have.length(2);
      expect((await run.finished).value).to.equal(2);
    } finally {
      await sandbox.close();
    }
  });

  it('starts one process for the first run', async () => {
    const sandbox = await openLazySandbox({ workers: 2 });
    try {
      expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
      expect(sandbox.pids).to.have.length(1);
    } finally {
      await sandbox.close();
    }
  });

  it('counts no time of a run with a clock of its own before its process is ready', async () => {
    const sandbox = await openLazySandbox({ workers: 1 });
    // A process takes longer than this to start.
    const simulated = { clock: () => 0, limits: { wallMs: 20 } };
    try {
      expect((await startScript(sandbox, { source: 'return 2', ...simulated }).finished).value).to.equal(2);
      const waiting = startScript(sandbox, { source: 'await sleep(60000)', ...simulated });
      expect(await errorOf(waiting)).to.include({ code: 'limit', limit: 'wallMs' });
    } finally {
      await sandbox.close();
    }
  });

  it('does not kill a slowly starting process as a silent one', async () => {
    const nursery = new Nursery();
    const started: string[] = [];
    class BusyMachine extends Nursery {
      override start(order: Parameters<Nursery['start']>[0], birth: Birth): () => void {
        let kill = (): void => void started.push('killed');
        // Longer than a process that is up may be silent.
        setTimeout(() => {
          started.push('came up');
          kill = nursery.start(order, birth);
        }, 3000);
        return () => kill();
      }
    }
    const sandbox = await openSandbox({ workers: 1, nursery: new BusyMachine(), beatMs: 500, silenceMs: 2000 });
    try {
      expect(started).to.deep.equal(['came up']);
      expect((await startScript(sandbox, { source: 'return 1' }).finished).value).to.equal(1);
    } finally {
      await sandbox.close();
      nursery.close();
    }
  });

  it('starts runs and compilations that waited for a process', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      process.kill(sandbox.pids[0] ?? 0, 'SIGKILL');
      const runs = Array.from({ length: 3 }, () => startScript(sandbox, { source: 'return 1' }).finished);
      // Those started before the death is noticed have not begun, and begin elsewhere; those after it wait.
      expect((await Promise.all(runs)).map(({ value }) => value)).to.deep.equal([1, 1, 1]);
      process.kill(sandbox.pids[0] ?? 0, 'SIGKILL');
      const source = { format: 'js', kind: 'block', file: 'x.js', source: 'return 1' } as const;
      expect(await sandbox.compile(source)).to.deep.equal({ ok: true, code: 'return 1' });
      expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
    } finally {
      await sandbox.close();
    }
  });

  it('passes waiting runs the jobs that arrived meanwhile', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const [pid = 0] = sandbox.pids;
      process.kill(pid, 'SIGKILL');
      await until(() => !sandbox.pids.includes(pid));
      const run = startScript(sandbox, { source: "return (await events.next('tick')).count" });
      run.emit({ type: 'tick', count: 7 });
      expect((await run.finished).value).to.equal(7);
    } finally {
      await sandbox.close();
    }
  });

  it('lets other runs of a process continue elsewhere when one of its isolates cannot be stopped', async () => {
    const reasons: string[] = [];
    const sandbox = await openSandbox({ workers: 1, onDiagnostic: (message) => reasons.push(message), restMs: LONG });
    try {
      const [first] = sandbox.pids;
      const release = Promise.withResolvers<string>();
      const asked = Promise.withResolvers<void>();
      const onCommand = (): Promise<string> => {
        asked.resolve();
        return release.promise;
      };
      const innocent = startScript(sandbox, { source: 'return call.play()', onCommand });
      await asked.promise;
      const hostile = startScript(sandbox, { source: UNSTOPPABLE, version: 'bad', limits: { activationMs: 50 } });
      expect((await errorOf(hostile)).code).to.equal('limit');
      // The next run of it is served by another process, of its own.
      const again = startScript(sandbox, { source: UNSTOPPABLE, version: 'bad', limits: { activationMs: 50 } });
      expect((await errorOf(again)).code).to.equal('limit');
      // Long before a script that waits gives up its isolate by itself.
      await until(() => !sandbox.pids.includes(first ?? 0));
      expect(reasons).not.to.deep.equal([]);
      release.resolve('played');
      expect((await innocent.finished).value).to.equal('played');
    } finally {
      await sandbox.close();
    }
  });

  it('continues when the nursery is killed', async function () {
    if (process.platform !== 'linux') this.skip();
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const release = Promise.withResolvers<string>();
      const asked = Promise.withResolvers<void>();
      const running = startScript(sandbox, {
        source: 'return call.play()',
        onCommand: () => {
          asked.resolve();
          return release.promise;
        },
      });
      await asked.promise;
      for (const pid of nurseries()) process.kill(pid, 'SIGKILL');
      await until(() => nurseries().length === 0);
      release.resolve('played');
      expect((await running.finished).value).to.equal('played');
      // Its worker ends as others do, and another one comes.
      const begun = Promise.withResolvers<void>();
      const lost = startScript(sandbox, {
        source: 'await sleep(60000)',
        onCommand: () => {
          begun.resolve();
          return new Promise(() => undefined);
        },
      });
      await begun.promise;
      process.kill(sandbox.pids[0] ?? 0, 'SIGKILL');
      expect((await errorOf(lost)).name).to.equal('SandboxLostError');
      expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
    } finally {
      await sandbox.close();
    }
  });

  it('runs with the lowest priority, without an environment', async function () {
    if (process.platform !== 'linux') this.skip();
    const sandbox = await openSandbox({ workers: 1, nice: 17 });
    try {
      await startScript(sandbox, { source: 'return 1' }).finished;
      const [pid] = sandbox.pids;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
      expect(Number(stat?.[16])).to.equal(17);
      // Where sessions share the processor, the media thread would come off badly beside another one.
      const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ');
      expect(stat?.[3]).to.equal(own?.[3]);
      expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).to.equal('1000');
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).to.equal('');
    } finally {
      await sandbox.close();
    }
  });

  it('isolates a source that is too deeply nested for the removal of its types', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<void>();
      const working = startScript(sandbox, {
        source: 'let n = 1; await echo(); n++; return n;',
        onCommand: () => {
          asked.resolve();
          return answer.promise;
        },
      });
      await asked.promise;
      const typed = { format: 'ts', kind: 'block', file: 'x.ts', source: 'const a: number = 1; return a;' } as const;
      const nested = { ...typed, source: NESTED };
      const [harmful, compiled, begun] = await Promise.all([
        sandbox.compile(nested),
        sandbox.compile(typed),
        ...Array.from({ length: 4 }, () => startScript(sandbox, typed).finished),
      ]);
      const problems = [{ line: 1, column: 1, message: 'the source is nested too deeply' }];
      expect(harmful).to.deep.equal({ ok: false, problems });
      expect(compiled.ok).to.equal(true);
      expect(begun?.value).to.equal(1);
      // As a run, too, and again: each time another process goes on.
      expect((await errorOf(startScript(sandbox, nested))).message).to.equal('1:1: the source is nested too deeply');
      expect((await startScript(sandbox, typed).finished).value).to.equal(1);
      answer.resolve();
      expect((await working.finished).value).to.equal(2);
    } finally {
      await sandbox.close();
    }
  });

  it('fails runs and leaves no process after its close', async () => {
    const sandbox = await openSandbox({ workers: 2 });
    const pids = [...sandbox.pids];
    const run = startScript(sandbox, { source: 'await sleep(60000)' });
    const error = errorOf(run);
    await sandbox.close();
    expect((await error).name).to.equal('SandboxLostError');
    for (const pid of pids) expect(() => process.kill(pid, 0)).to.throw();
    expect(() => startScript(sandbox, { source: '' })).to.throw(SandboxLostError);
  });

  it('serves two hundred runs at once', async () => {
    const sandbox = await openSandbox({ workers: 2 });
    try {
      const runs = Array.from({ length: 200 }, (_, i) =>
        startScript(sandbox, { version: 'many', source: 'await sleep(20); return args', args: i }),
      );
      const values = (await Promise.all(runs.map(({ finished }) => finished))).map(({ value }) => value);
      expect(values).to.deep.equal(runs.map((_, i) => i));
    } finally {
      await sandbox.close();
    }
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Processes of this one that start sandbox processes (proc(5)). */
function nurseries(): number[] {
  return childrenOf(process.pid).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('processes/nursery'),
  );
}
