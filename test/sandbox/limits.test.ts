import process from 'node:process';
import { expect } from 'chai';
import { type LimitName, type ScriptLimits, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

interface Case {
  readonly limit: LimitName;
  readonly words: string;
  readonly what: string;
  readonly source: string;
  readonly limits: Partial<ScriptLimits>;
}

const CASES: readonly Case[] = [
  {
    limit: 'activationMs',
    words: '"activation" of ',
    what: 'a loop',
    source: 'for (;;);',
    limits: { activationMs: 50 },
  },
  {
    limit: 'cpuMs',
    words: '"cpu" of',
    what: 'much work in small pieces',
    source: 'for (;;) { const end = Date.now() + 10; while (Date.now() < end); await echo(); }',
    limits: { cpuMs: 60, activationMs: 1000 },
  },
  {
    limit: 'wallMs',
    words: '"wall" of 50 ms',
    what: 'a long wait',
    source: 'await sleep(60000)',
    limits: { wallMs: 50 },
  },
  {
    limit: 'memoryMb',
    words: '"memory" of 8 MB',
    what: 'much memory',
    source: 'const a = []; for (;;) a.push({ i: a.length });',
    limits: { activationMs: 20_000, cpuMs: 20_000, memoryMb: 8 },
  },
  {
    limit: 'commands',
    words: 'of 20 functions in all',
    what: 'many commands',
    source: 'for (;;) await echo();',
    limits: { commands: 20 },
  },
  {
    limit: 'pendingCommands',
    words: '"pending" of 64 functions',
    what: 'many commands at once',
    source: 'for (;;) call.play();',
    limits: {},
  },
  {
    limit: 'pendingCommands',
    words: '"pending" of 64 functions',
    what: 'many commands, each of which it cancels at once',
    source: 'for (let i = 0; i < 65; i++) { const one = echo(); one.catch(() => {}); one.cancel(); } await echo();',
    limits: {},
  },
  {
    limit: 'timers',
    words: 'of 32 functions sleep',
    what: 'many timers',
    source: 'for (let i = 0; i < 40; i++) sleep(1000); await sleep(1)',
    limits: {},
  },
  {
    limit: 'logLines',
    words: '"log" of 30 lines',
    what: 'many log lines',
    source: "for (let i = 0; i < 40; i++) log('x')",
    limits: { logLines: 30 },
  },
  {
    limit: 'logBytes',
    words: 'of 1000 octets in the log',
    what: 'long log lines',
    source: "log('x'.repeat(2000))",
    limits: { logBytes: 1000 },
  },
  {
    limit: 'messageBytes',
    words: 'of 262144 characters of JSON',
    what: 'a long argument',
    source: "await echo('x'.repeat(300000))",
    limits: {},
  },
  {
    limit: 'messageBytes',
    words: 'of 262144 characters of JSON',
    what: 'a long result',
    source: "return 'x'.repeat(300000)",
    limits: {},
  },
];

describe('sandbox: limits', () => {
  let sandbox: Awaited<ReturnType<typeof openSandbox>>;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  for (const { limit, words, what, source, limits } of CASES) {
    it(`${limit} ends a script with ${what}`, async () => {
      const run = startScript(sandbox, { source, limits });
      const error = await errorOf(run);
      expect([error.name, error.code, error.limit]).to.deep.equal(['LimitError', 'limit', limit]);
      expect(error.message).to.include(words);
    }).timeout(20_000);
  }

  it('fails a command with too long an answer, and the script continues', async () => {
    const run = startScript(sandbox, {
      source: 'try { await echo() } catch ({ code }) { return code }',
      onCommand: async () => 'x'.repeat(300_000),
    });
    expect((await run.finished).value).to.equal('not_plain');
  });

  it('delays answers to a script above its rate', async () => {
    const began = performance.now();
    await startScript(sandbox, {
      source: 'for (let i = 0; i < 60; i++) await echo(i)',
      limits: { commandsPerSecond: 40 },
    }).finished;
    // 40 at once, then 20 more at 25 ms each.
    expect(performance.now() - began).to.be.greaterThan(400);
  });

  it('reports the memory that a script holds, heap and buffers', async () => {
    const held = async (body: string) => {
      const { usage } = await startScript(sandbox, { source: body }).finished;
      return usage.memoryBytes;
    };
    const nothing = await held('return 1');
    expect(await held('globalThis.kept = new Array(500_000).fill(1.5); return 1')).to.be.above(nothing + 3_000_000);
    expect(await held('globalThis.kept = new ArrayBuffer(3_000_000); return 1')).to.be.above(nothing + 2_500_000);
  });

  it('counts the memory of formatters, which V8 does not, and frees unused ones', async () => {
    const make = (one: string, many: number) =>
      startScript(sandbox, {
        source: `let kept = []; const texts = new Intl.Segmenter('de'); const text = 'ab '.repeat(1000);
          for (let i = 0; i < ${many}; i++) { ${one}; if (i % 100 === 0) await echo(); }
          return 'made'`,
        limits: { memoryMb: 8, activationMs: 20_000, cpuMs: 60_000, commands: 1000 },
      }).finished;
    for (const one of [
      "new Intl.DateTimeFormat('de', { dateStyle: 'full' })",
      "new (new Intl.NumberFormat('de').constructor)('de', { style: 'percent' })",
      "new Intl.Locale('en').maximize()",
      'texts.segment(text)',
      'texts.segment(text)[Symbol.iterator]()',
    ]) {
      expect((await make(one, 4000)).value, one).to.equal('made');
      const error = await make(`kept.push(${one})`, 4000).then(
        () => undefined,
        (reason: Error) => reason,
      );
      expect(error?.message, one).to.contain('memory');
    }
  });

  it('reports usage while the script runs', async () => {
    const asked = Promise.withResolvers<void>();
    const run = startScript(sandbox, {
      source: "log('abc'); await echo(); await sleep(10000)",
      onCommand: (name) => {
        if (name === 'sleep') asked.resolve();
        return name === 'sleep' ? new Promise(() => undefined) : Promise.resolve(null);
      },
    });
    await asked.promise;
    const usage = run.usage();
    expect(usage).to.include({ activations: 2, commands: 2, logLines: 1, logBytes: 3 });
    expect(usage.wallMs).to.be.greaterThan(0);
    run.finished.catch(() => undefined);
  });

  it('do not count time waiting for the processor', async function () {
    if (process.platform !== 'linux') this.skip();
    const [pid = 0] = sandbox.pids;
    const run = startScript(sandbox, {
      // Some 200 ms of work, in the middle of which its process stands still.
      source: 'await echo(); let sum = 0; for (let i = 0; i < 3e8; i++) sum += i; return sum > 0;',
      limits: { activationMs: 800 },
      onCommand: async () => {
        setTimeout(() => process.kill(pid, 'SIGSTOP'), 60);
        setTimeout(() => process.kill(pid, 'SIGCONT'), 1400);
        return null;
      },
    });
    const { value, usage } = await run.finished;
    expect(value).to.equal(true);
    expect(usage.wallMs).to.be.above(1300);
    expect(usage.cpuMs).to.be.below(800);
  });
});
