import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Sandbox, type ScriptRun, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

/** Milliseconds after which the scripts of these tests sleep. */
const REST_MS = 30;
/** Milliseconds in which a process is not looked at during a test. */
const LONG = 60_000;

describe('sandbox: scripts with long waits', function () {
  this.timeout(20_000);
  let sandbox: Sandbox & { readonly pids: readonly number[] };
  before(async () => {
    sandbox = await openSandbox({ workers: 1, restMs: REST_MS });
  });
  after(() => sandbox.close());

  /** Answers `call.play` long after the script has fallen asleep. */
  const slowly = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    if (name === 'call.play') await delay(REST_MS * 10);
    return args;
  };

  it('continue as if they had never slept', async () => {
    const asked: unknown[] = [];
    const logged: string[] = [];
    const run = startScript(sandbox, {
      source: `
        const seen = [Math.random(), Date.now(), new Date().getTime(), String(new Date(0).getTime())];
        let count = 0;
        events.on('tick', () => { count++; });
        for (let i = 0; i < 3; i++) {
          log('round ' + i);
          await call.play(i);
          seen.push(Math.random());
          vars.rounds = (vars.rounds ?? 0) + 1;
        }
        return { seen, count, again: await echo(...seen) };`,
      vars: {},
      onCommand: async (name, args) => {
        asked.push(name);
        if (args[0] === 1) run.emit({ type: 'tick' });
        return slowly(name, args);
      },
      onLog: (_, text) => logged.push(text),
    });
    const { value, vars } = await run.finished;
    const { seen, count, again } = value as { seen: unknown[]; count: number; again: unknown[] };
    expect(again).to.deep.equal(seen);
    expect(new Set(seen).size).to.equal(6);
    expect(count).to.equal(1);
    expect(vars).to.deep.equal({ rounds: 3 });
    expect(asked).to.deep.equal(['call.play', 'call.play', 'call.play', 'echo']);
    expect(logged).to.deep.equal(['round 0', 'round 1', 'round 2']);
  });

  it('have a clock that advances while they wait, and stands still while they run', async () => {
    const began = Date.now();
    const run = startScript(sandbox, {
      source: `
        const times = [Date.now(), +new Date(), Date.parse(new Intl.DateTimeFormat('en-US').format()) > 0 ? Date.now() : 0];
        await call.play();
        class Mine extends Date {}
        return [...times, +new Mine(), new Mine(2020, 1).getMonth(), typeof Date(), Date.UTC(1970, 0), Date.length];`,
      onCommand: slowly,
    });
    const [first, second, third, later, month, kind, zero, length] = (await run.finished).value as number[];
    expect([second, third]).to.deep.equal([first, first]);
    expect(first).to.be.within(began, Date.now());
    expect(later).to.be.within((first ?? 0) + REST_MS * 9, Date.now());
    expect([month, kind, zero, length]).to.deep.equal([1, 'string', 0, 7]);
  });

  it('are ended during sleep by their owner or a limit, like others', async () => {
    const control = new AbortController();
    const stopped = startScript(sandbox, {
      source: 'await call.play();',
      signal: control.signal,
      onCommand: () => new Promise(() => undefined),
    });
    const late = startScript(sandbox, {
      source: 'await call.play();',
      limits: { wallMs: REST_MS * 5 },
      onCommand: () => new Promise(() => undefined),
    });
    expect((await errorOf(late)).limit).to.equal('wallMs');
    control.abort();
    expect((await errorOf(stopped)).name).to.equal('ScriptAbortedError');
    const looping = startScript(sandbox, {
      source: 'await call.play(); for (;;);',
      limits: { activationMs: 50 },
      onCommand: slowly,
    });
    expect((await errorOf(looping)).limit).to.equal('activationMs');
  });

  it('keep their isolate after much work', async () => {
    const run = startScript(sandbox, {
      source: 'let n = 0; for (let i = 0; i < 3e8; i++) n += i % 7; await call.play(); return n;',
      limits: { activationMs: 5000 },
      onCommand: slowly,
    });
    expect((await run.finished).value).to.be.greaterThan(0);
    expect(run.usage().activations).to.equal(2);
  });
});

describe('sandbox: scripts that sleep', function () {
  this.timeout(30_000);
  let sandbox: Sandbox & { readonly pids: readonly number[] };
  const open = async (beatMs: number): Promise<void> => {
    sandbox = await openSandbox({ workers: 1, restMs: 0, beatMs });
  };
  afterEach(() => sandbox.close());

  /** Starts scripts that wait for the same answer; settles when all are asleep. */
  const asleep = async (count: number, source: string, answer: Promise<unknown>): Promise<ScriptRun[]> => {
    let asked = 0;
    const all = Promise.withResolvers<void>();
    const onCommand = (): Promise<unknown> => {
      if (++asked === count) all.resolve();
      return answer;
    };
    const runs = Array.from({ length: count }, () => startScript(sandbox, { version: 'one', source, onCommand }));
    await all.promise;
    // What a process has said before it is heard before.
    await sandbox.compile({ source: '', format: 'js', kind: 'block', file: 'test.js' });
    return runs;
  };

  const values = (runs: readonly ScriptRun[]): Promise<unknown[]> =>
    Promise.all(runs.map(async ({ finished }) => (await finished).value));

  it('leave nothing in their process: when it is killed they continue in another', async () => {
    await open(LONG);
    const answer = Promise.withResolvers<string>();
    const runs = await asleep(
      20,
      'const n = Math.random(); await call.play(n); return await call.play(n)',
      answer.promise,
    );
    const [pid = 0] = sandbox.pids;
    process.kill(pid, 'SIGKILL');
    while (sandbox.pids.includes(pid)) await delay(20);
    answer.resolve('played');
    expect(new Set(await values(runs))).to.deep.equal(new Set(['played']));
    expect(sandbox.pids).not.to.include(pid);
  });

  it('miss no job while they fall asleep', async () => {
    await open(LONG);
    const ROUNDS = 20;
    const run = startScript(sandbox, {
      source: `
        let ticks = 0;
        events.on('tick', () => { ticks++; });
        for (let i = 0; i < ${ROUNDS}; i++) await call.play(i);
        return ticks;`,
      onCommand: async () => {
        // Before it can be known that the script sleeps, and after.
        run.emit({ type: 'tick' });
        await Promise.resolve();
        run.emit({ type: 'tick' });
        return null;
      },
    });
    expect((await run.finished).value).to.equal(2 * ROUNDS);
  });

  it('move from a grown process to a new one', async () => {
    await open(20);
    const [pid = 0] = sandbox.pids;
    const answer = Promise.withResolvers<null>();
    const source = 'const many = new Array(1e6).fill(0.5); await call.play(); return many.length';
    const runs = await asleep(50, source, answer.promise);
    while (sandbox.pids.includes(pid)) await delay(20);
    answer.resolve(null);
    expect(new Set(await values(runs))).to.deep.equal(new Set([1e6]));
  });
});
