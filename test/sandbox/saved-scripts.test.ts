import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import {
  isKnownRecord,
  type Json,
  type Sandbox,
  type ScriptRecord,
  type ScriptRun,
  openSandbox,
} from '../../runtime/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, startScript } from './support.ts';

/** Milliseconds after which the scripts of the first sandbox sleep. */
const REST_MS = 30;
const NEVER = new Promise<never>(() => undefined);

/** A sandbox for each node. */
describe('sandbox: scripts that go on at another node', function () {
  this.timeout(30_000);
  let sleepy: Sandbox;
  let awake: Sandbox;
  let next: Sandbox;
  before(async () => {
    sleepy = await openSandbox({ workers: 1, restMs: REST_MS });
    awake = await openSandbox({ workers: 1 });
    next = await openSandbox({ workers: 1 });
  });
  after(() => Promise.all([sleepy.close(), awake.close(), next.close()]));

  const source = `
    const dice = Math.random();
    const at = Date.now();
    const heard = [];
    events.on('tick', ({ count }) => heard.push(count));
    const [first] = await echo('one');
    log('before');
    const [[second], [third]] = await Promise.all([call.play('two'), call.collect('three')]);
    log('after');
    const [fourth] = await echo('four');
    return { dice, at, heard, said: [first, second, third, fourth], isLater: Date.now() > at };`;

  /** A script whose `call` functions never end here, and what it asked for. */
  function begin(sandbox: Sandbox, more: object = {}) {
    const asked: (readonly Json[])[] = [];
    const logged: string[] = [];
    const run = startScript(sandbox, {
      source,
      version: 'saved',
      onCommand: async (name, args) => {
        asked.push(args);
        return name.startsWith('call.') ? NEVER : args;
      },
      onLog: (_, text) => logged.push(text),
      ...more,
    });
    return { run, asked, logged };
  }

  /** The record of a script once it waits, as other nodes read it. */
  async function recordOf(run: ScriptRun): Promise<ScriptRecord> {
    return await eventually(async () => {
      const record = await run.save();
      expect(record).to.be.an('object');
      return JSON.parse(JSON.stringify(record)) as ScriptRecord;
    });
  }

  for (const [state, sandboxOf] of [
    ['with its isolate', () => awake],
    ['asleep', () => sleepy],
  ] as const) {
    it(`repeat no command that was answered: ${state}`, async () => {
      const before = begin(sandboxOf());
      await eventually(async () => expect(before.asked.length).to.equal(3));
      before.run.emit({ type: 'tick', count: 1 });
      await eventually(async () => expect(before.run.usage().activations).to.equal(3));
      if (state === 'asleep') await once(AbortSignal.timeout(5 * REST_MS), 'abort');
      const resume = await recordOf(before.run);
      expect(isKnownRecord(resume)).to.equal(true);
      expect(resume.pending.map(({ name, args }) => [name, args])).to.deep.equal([
        ['call.play', ['two']],
        ['call.collect', ['three']],
      ]);
      const answers: ((value: unknown) => void)[] = [];
      const asked: (readonly Json[])[] = [];
      const after = begin(next, {
        resume,
        onCommand: async (name: string, args: readonly Json[]) => {
          asked.push(args);
          return name.startsWith('call.') ? new Promise((resolve) => answers.push(() => resolve(args))) : args;
        },
      });
      await setImmediate();
      after.run.emit({ type: 'tick', count: 2 });
      for (const answer of answers) answer(undefined);
      const { value, usage } = await after.run.finished;
      expect(value).to.deep.include({ heard: [1, 2], said: ['one', 'two', 'three', 'four'], isLater: true });
      expect(asked).to.deep.equal([['two'], ['three'], ['four']]);
      expect([before.logged, after.logged]).to.deep.equal([['before'], ['after']]);
      expect(usage).to.include({ commands: 4, logLines: 2 });
      // The first one is as it was, with the same random number and the same clock.
      const { dice, at } = value as { dice: number; at: number };
      const again = begin(next, { resume, onCommand: async (_: string, args: readonly Json[]) => args });
      expect((await again.run.finished).value).to.deep.include({ dice, at, heard: [1] });
    });
  }

  it('end with sandbox_lost when they would do something else than before', async () => {
    const before = begin(awake);
    await eventually(async () => expect(before.asked.length).to.equal(3));
    const resume = await recordOf(before.run);
    const onCommand = async (_: string, args: readonly Json[]) => args;
    const other = begin(next, { resume, onCommand, source: source.replace("'one'", "'another'") });
    expect(await errorOf(other.run)).to.include({ code: 'sandbox_lost' });
  });

  it('are not saved while they work, or over the limits of a repetition', async () => {
    const working = startScript(awake, { source: 'for (const end = 1e9; vars.i < end; vars.i++);', vars: { i: 0 } });
    expect(await working.save()).to.equal(undefined);
    await errorOf(working);
    const bodies = {
      characters: "await echo('x'.repeat(33000)); await call.play();",
      turns: 'for (let i = 0; i < 200; i++) await echo(i); await call.play();',
      processorMs: 'while (await echo()) for (let j = 0; j < 1e7; j++) vars.j = j; await call.play();',
    };
    for (const [limit, body] of Object.entries(bodies)) {
      const run = startScript(awake, {
        source: body,
        vars: { j: 0 },
        limits: { commandsPerSecond: 1000 },
        onCommand: async (name, [text]) => (name === 'call.play' ? NEVER : (text ?? run.usage().cpuMs < 600)),
      });
      await eventually(async () => expect(await run.save()).to.equal(limit));
    }
  });
});
