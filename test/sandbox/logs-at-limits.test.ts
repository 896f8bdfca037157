import process from 'node:process';
import { expect } from 'chai';
import { type ScriptLimits, openSandbox } from '../../runtime/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, startScript } from './support.ts';

const MB = 1_048_576;
const PLENTY = { cpuMs: 60_000, activationMs: 60_000 };

/** Scripts that come to no end of their turn; each has logged `first` and `second` before. */
const CASES: readonly {
  readonly limit: string;
  readonly source: string;
  readonly limits: Partial<ScriptLimits>;
  readonly cpuMs?: number;
  readonly memoryBytes?: number;
}[] = [
  { limit: 'activationMs', source: 'for (;;);', limits: { activationMs: 60 }, cpuMs: 50 },
  { limit: 'cpuMs', source: 'for (;;);', limits: { cpuMs: 60, activationMs: 1000 }, cpuMs: 50 },
  { limit: 'wallMs', source: 'for (;;);', limits: { ...PLENTY, wallMs: 150 } },
  {
    limit: 'memoryMb',
    source: 'const all = []; for (;;) all.push({ i: all.length });',
    limits: { ...PLENTY, memoryMb: 8 },
    cpuMs: 1,
    memoryBytes: 8 * MB,
  },
  { limit: 'logLines', source: "for (;;) log('more');", limits: { logLines: 2 } },
  { limit: 'logBytes', source: "log('x'.repeat(200)); for (;;);", limits: { logBytes: 100 } },
  { limit: 'pendingCommands', source: 'for (;;) call.play();', limits: {} },
  { limit: 'messageBytes', source: "echo('x'.repeat(300000)); for (;;);", limits: {} },
];

describe('sandbox: log and usage of a script that exceeds a limit', function () {
  this.timeout(20_000);
  let sandbox: Awaited<ReturnType<typeof openSandbox>>;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  for (const { limit, source, limits, cpuMs = 0, memoryBytes = 0 } of CASES) {
    it(`${limit}: its log so far, and its usage`, async () => {
      const lines: string[] = [];
      const run = startScript(sandbox, {
        source: `log('first'); await echo(); log.warn('second', 'ä€😀'); ${source}`,
        limits,
        onLog: (level, text) => lines.push(`${level} ${text}`),
      });
      expect((await errorOf(run)).limit).to.equal(limit);
      expect(lines).to.deep.equal(['info first', 'warn second ä€😀']);
      const usage = run.usage();
      expect(usage.cpuMs).to.be.at.least(cpuMs);
      expect(usage.memoryBytes).to.be.at.least(memoryBytes);
      expect(usage.wallMs).to.be.above(0);
      expect(usage.logLines).to.be.within(2, 3);
      expect(usage.activations).to.equal(2);
    });
  }

  it('in many lines, all of them and each once', async () => {
    const lines: string[] = [];
    const run = startScript(sandbox, {
      source: "for (let i = 0; i < 900; i++) log('line', i, 'x'.repeat(200)); for (;;);",
      limits: { activationMs: 200 },
      onLog: (_, text) => lines.push(text),
    });
    expect((await errorOf(run)).limit).to.equal('activationMs');
    expect(lines).to.deep.equal(Array.from({ length: 900 }, (_, i) => `line ${i} ${'x'.repeat(200)}`));
  });

  it('of the current turn only', async () => {
    for (let i = 0; i < 3; i += 1) {
      const lines: string[] = [];
      const source = i === 2 ? 'for (;;);' : "log('x'.repeat(5000)); return 1;";
      const run = startScript(sandbox, {
        version: 'same',
        source: `if (vars.i < 2) { log('x'.repeat(5000)); return 1; } log('own'); for (;;);`,
        vars: { i },
        limits: { activationMs: 50 },
        onLog: (_, text) => lines.push(text),
      });
      // oxlint-disable-next-line eslint/no-await-in-loop -- one after the other in one isolate
      await run.finished.catch(() => undefined);
      expect(lines, source).to.deep.equal(i === 2 ? ['own'] : ['x'.repeat(5000)]);
    }
  });

  it('is reported once and in order when the turn ends after all', async () => {
    const told: unknown[] = [];
    const run = startScript(sandbox, {
      source: "log('a'); echo('b'); log('c'); for (let i = 0; i < 2e8; i++); log('d'); return 1;",
      limits: PLENTY,
      onLog: (_, text) => told.push(text),
      onCommand: async (_, [text]) => void told.push(text),
    });
    await run.finished;
    expect(told).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('survives a killed process', async () => {
    const own = await openSandbox({ workers: 1 });
    try {
      const lines: string[] = [];
      const run = startScript(own, {
        source: "log('first'); await echo(); log('second'); for (;;);",
        limits: PLENTY,
        onLog: (_, text) => lines.push(text),
      });
      const ended = errorOf(run);
      await eventually(async () => expect(run.usage().cpuMs).to.be.above(20));
      expect(lines).to.deep.equal(['first']);
      process.kill(own.pids[0] ?? 0, 'SIGKILL');
      expect((await ended).name).to.equal('SandboxLostError');
      expect(lines).to.deep.equal(['first', 'second']);
      expect(run.usage().cpuMs).to.be.above(20);
    } finally {
      await own.close();
    }
  });
});

describe('sandbox: a process that dies before it reports about a run', function () {
  this.timeout(20_000);

  it('lets the run start in another process, with its jobs so far', async function () {
    if (process.platform !== 'linux') this.skip();
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const [pid = 0] = sandbox.pids;
      process.kill(pid, 'SIGSTOP');
      const run = startScript(sandbox, { source: "return (await events.next('go')).text" });
      run.emit({ type: 'go', text: 'went' });
      process.kill(pid, 'SIGKILL');
      expect((await run.finished).value).to.equal('went');
    } finally {
      await sandbox.close();
    }
  });

  it('lets a run wake in another process', async function () {
    if (process.platform !== 'linux') this.skip();
    const sandbox = await openSandbox({ workers: 1, restMs: 0 });
    try {
      const heard: unknown[] = [];
      const answered = Promise.withResolvers<string>();
      const run = startScript(sandbox, {
        source: "log('began'); return await echo('a');",
        onCommand: async (_, [text]) => {
          heard.push(text);
          return answered.promise;
        },
        onLog: (_, text) => heard.push(text),
      });
      await eventually(async () => expect(heard).to.deep.equal(['began', 'a']));
      const [pid = 0] = sandbox.pids;
      // What a process has said before it is heard before: that the run sleeps.
      await sandbox.compile({ source: '', format: 'js', kind: 'block', file: 'test.js' });
      process.kill(pid, 'SIGSTOP');
      answered.resolve('A');
      await new Promise((resolve) => setImmediate(resolve));
      process.kill(pid, 'SIGKILL');
      expect((await run.finished).value).to.equal('A');
      expect(heard).to.deep.equal(['began', 'a']);
    } finally {
      await sandbox.close();
    }
  });
});
