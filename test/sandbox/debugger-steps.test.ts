import { expect } from 'chai';
import { type ScriptRun, type StartOptions, openSandbox } from '../../runtime/sandbox/index.ts';
import type { Sandbox } from '../../runtime/sandbox/sandbox.ts';
import { Debugger } from '../support/debugger.ts';
import { errorOf, startScript } from './support.ts';

const FILE = 'file:///scenarios/steps.ts';

interface Paused {
  readonly reason: string;
  readonly hitBreakpoints?: readonly string[];
  readonly callFrames: readonly {
    readonly functionName: string;
    readonly location: { readonly lineNumber: number };
  }[];
}

/** A run of a module with a command `next`, whose answers the test gives. */
interface Stage {
  readonly run: ScriptRun;
  readonly client: Debugger;
  readonly logged: string[];
  /** Resolves when it waits for a `next`. */
  waits(): Promise<void>;
  /** Answers the oldest `next`, when there is one. */
  answer(value: string): Promise<void>;
}

describe('sandbox: a debugged script that waits for its host', function () {
  // Sandbox processes are nice: on a busy machine they come last.
  this.timeout(30_000);
  let sandbox: Sandbox;
  before(async () => void (sandbox = await openSandbox({ workers: 1, debuggerPort: 0 })));
  after(() => sandbox.close());

  /** @param prepare what the debugger asks for before the script begins */
  async function begin(
    source: string,
    prepare: (client: Debugger) => Promise<unknown>,
    limits: StartOptions['limits'] = { activationMs: 100, wallMs: 500 },
  ): Promise<Stage> {
    const asked: ((value: string) => void)[] = [];
    const looking: (() => void)[] = [];
    const logged: string[] = [];
    const run = startScript(sandbox, {
      kind: 'module',
      format: 'ts',
      file: FILE,
      source,
      commands: ['next'],
      onCommand: () =>
        new Promise<string>((resolve) => {
          asked.push(resolve);
          looking.shift()?.();
        }),
      onLog: (level, text) => logged.push(`${level}: ${text}`),
      limits,
      debug: true,
    });
    const client = await Debugger.attach((await run.debuggerUrl) ?? '');
    await client.request('Runtime.enable');
    await client.request('Debugger.enable');
    await prepare(client);
    await client.request('Runtime.runIfWaitingForDebugger');
    const waits = async (): Promise<void> => {
      if (asked.length === 0) await new Promise<void>((resolve) => looking.push(resolve));
    };
    const answer = async (value: string): Promise<void> => {
      await waits();
      asked.shift()?.(value);
    };
    return { run, client, logged, waits, answer };
  }

  async function paused(client: Debugger): Promise<Paused & { readonly line: number }> {
    const found = (await client.event('Debugger.paused')) as unknown as Paused;
    client.forget();
    return { ...found, line: (found.callFrames[0]?.location.lineNumber ?? -1) + 1 };
  }

  async function breakAt(client: Debugger, line: number): Promise<string> {
    const found = await client.request('Debugger.setBreakpointByUrl', { url: FILE, lineNumber: line - 1 });
    return (found as unknown as { breakpointId: string }).breakpointId;
  }

  it('steps over an await into the code after it', async () => {
    const source = `declare function next(): Promise<string>;
export default async function (): Promise<string> {
  const first: string = await inner();
  return first + "!";
}
async function inner(): Promise<string> {
  const one = await next();
  const two = await next();
  return one + two;
}`;
    const { run, client, answer } = await begin(source, (debug) => breakAt(debug, 7));
    expect((await paused(client)).line).to.equal(7);
    await client.request('Debugger.stepOver');
    await answer('a');
    expect(await paused(client)).to.include({ line: 8, reason: 'step' });
    await client.request('Debugger.stepInto', { breakOnAsyncCall: true });
    await answer('b');
    expect((await paused(client)).line).to.equal(9);
    await client.request('Debugger.stepOut');
    expect((await paused(client)).line).to.equal(4);
    await client.request('Debugger.resume');
    expect((await run.finished).value).to.equal('ab!');
  });

  it('distinguishes breakpoints, whenever they were set', async () => {
    const source = `export default async function () {
  for (;;) {
    const text = await next();
    if (text === "end") return text;
    if (text === "first") first();
    if (text === "second") second();
  }
}
function first() {
  return 1;
}
function second() {
  return 2;
}`;
    const ids: string[] = [];
    const { run, client, answer } = await begin(source, async (debug) => ids.push(await breakAt(debug, 10)));
    await answer('other');
    ids.push(await breakAt(client, 13));
    await answer('second');
    expect(await paused(client)).to.deep.include({ line: 13, hitBreakpoints: [ids[1]] });
    await client.request('Debugger.resume');
    await answer('first');
    expect(await paused(client)).to.deep.include({ line: 10, hitBreakpoints: [ids[0]] });
    await client.request('Debugger.resume');
    await answer('other');
    await client.request('Debugger.removeBreakpoint', { breakpointId: ids[1] });
    await answer('second');
    await answer('first');
    expect((await paused(client)).line).to.equal(10);
    await client.request('Debugger.resume');
    await answer('end');
    expect((await run.finished).value).to.equal('end');
  });

  it('can be inspected while it waits, and paused where it continues', async () => {
    const source = `export default async function () {
  const text = await next();
  return text;
}`;
    const { run, client, waits, answer } = await begin(source, async () => undefined);
    await waits();
    const shown = await client.request('Runtime.evaluate', { expression: 'typeof next' });
    expect(shown).to.deep.nested.include({ 'result.value': 'function' });
    await client.request('Debugger.pause');
    // Until then there is nothing that could go on.
    expect(await client.request('Debugger.resume')).to.equal(undefined);
    await answer('gone on');
    const { line, callFrames } = await paused(client);
    expect([line, callFrames[0]?.functionName]).to.deep.equal([3, 'default']);
    await client.request('Debugger.resume');
    expect((await run.finished).value).to.equal('gone on');
  });

  it('pauses at an uncaught exception, and still fails', async () => {
    const source = `export default async function () {
  try { thrower("caught"); } catch {}
  await next();
  await later();
}
async function later() { thrower("not caught"); }
function thrower(text) {
  throw new TypeError(text);
}`;
    const { run, client, answer } = await begin(source, (debug) =>
      debug.request('Debugger.setPauseOnExceptions', { state: 'uncaught' }),
    );
    await answer('');
    const found = await paused(client);
    const failed = errorOf(run);
    expect(found).to.deep.include({ line: 8, reason: 'promiseRejection' });
    expect(found).to.have.nested.property('data.description').that.contains('not caught');
    expect(found.callFrames[1]?.functionName).to.equal('later');
    await client.request('Debugger.resume');
    expect(await failed).to.include({ code: 'script', message: 'not caught' });
  });

  it('shows the debugger its logs and prints, with their positions', async () => {
    const source = `export default async function () {
  log.warn("logged", 1);
  console.info("printed %o", { a: 1 });
}`;
    const { run, client, logged } = await begin(source, async () => undefined);
    await run.finished;
    const shown = [];
    for (const text of ['"logged"', '"printed %o"']) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- both are there
      const { type, stackTrace } = (await client.event('Runtime.consoleAPICalled', text)) as unknown as {
        type: string;
        stackTrace: { callFrames: { url: string; lineNumber: number }[] };
      };
      shown.push([type, stackTrace.callFrames.find(({ url }) => url === FILE)?.lineNumber]);
    }
    expect(shown).to.deep.equal([
      ['warning', 1],
      ['info', 2],
    ]);
    // Logpoints print, which is none of the run's business.
    expect(logged).to.deep.equal(['warn: logged 1']);
  });

  it('has its limits again immediately after the debugger disconnects', async () => {
    const source = `export default async function () {
  await next();
  console.log("after");
  for (let turns = 0; ; turns++) Math.sqrt(turns);
}`;
    const limits = { activationMs: 100 };
    const stopped = await begin(source, (debug) => breakAt(debug, 4), limits);
    await stopped.answer('');
    await paused(stopped.client);
    stopped.client.close();
    expect(await errorOf(stopped.run)).to.include({ code: 'limit', limit: 'activationMs' });

    const waiting = await begin(source, async () => undefined, { wallMs: 500 });
    await waiting.waits();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(waiting.run.usage().wallMs).to.be.above(500);
    waiting.client.close();
    expect(await errorOf(waiting.run)).to.include({ code: 'limit', limit: 'wallMs' });

    const going = await begin(source, async () => undefined, limits);
    going.client.close();
    await going.answer('');
    expect(await errorOf(going.run)).to.include({ code: 'limit', limit: 'activationMs' });
  });
});
