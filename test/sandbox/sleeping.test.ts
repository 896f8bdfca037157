import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Sandbox, type ScriptRun, openSandbox } from '../../runtime/sandbox/index.ts';
import { errorOf, startScript } from './support.ts';

/** Milliseconds after which the scripts of these tests sleep. */
const REST_MS = 30;

describe('sandbox: scripts that wait for long', function () {
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

  it('go on as if they had never slept', async () => {
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

  it('have a clock that moves while they wait, and stands still while they work', async () => {
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

  it('end as others do while they sleep, by their owner or by a limit', async () => {
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

  it('keep their isolate when they have worked much', async () => {
    const run = startScript(sandbox, {
      source: 'let n = 0; for (let i = 0; i < 3e8; i++) n += i % 7; await call.play(); return n;',
      limits: { activationMs: 5000 },
      onCommand: slowly,
    });
    expect((await run.finished).value).to.be.greaterThan(0);
    expect(run.usage().activations).to.equal(2);
  });

  it('take no isolate each: some kilobytes are left', async function () {
    if (process.platform !== 'linux') this.skip();
    const waiting = Promise.withResolvers<unknown>();
    const source = 'const order = { id: 7 }; await call.play(); return order.id;';
    const resident = (): number =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${sandbox.pids[0]}/status`, 'utf8'))?.[1]);
    /** Settles when all have got so far. */
    const begin = async (count: number): Promise<ScriptRun[]> => {
      let asked = 0;
      const all = Promise.withResolvers<void>();
      const onCommand = async (): Promise<unknown> => {
        if (++asked === count) all.resolve();
        return waiting.promise;
      };
      const runs = Array.from({ length: count }, () => startScript(sandbox, { version: 'one', source, onCommand }));
      await all.promise;
      await delay(REST_MS * 2);
      return runs;
    };
    // The first ones take what is used again later.
    const first = await begin(600);
    const before = resident();
    const second = await begin(600);
    expect((resident() - before) / second.length).to.be.lessThan(100);
    waiting.resolve(null);
    const values = await Promise.all([...first, ...second].map(async ({ finished }) => (await finished).value));
    expect(new Set(values)).to.deep.equal(new Set([7]));
  });
});
