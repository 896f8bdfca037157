import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkFile } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { runSimulate } from '../../runtime/workbench/simulation/simulate-command.ts';
import { type Simulation, simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { Debugger } from '../support/debugger.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SOURCE = `interface Choice { readonly digits: string }

export const limits = { cpu: "50ms", activation: "50ms", wall: "1s" };

export default async function (call: Call): Promise<number> {
  await call.answer();
  const choice: Choice = await call.collect({ max: 1, timeout: "2s" });
  const doubled: number = Number(choice.digits) * 2;
  return doubled + 1;
}`;

const BLOCKS = `id: twice
variables: { n: 3 }
start: compute
blocks:
  compute:
    script:
      vars: { n: "\${n}" }
      code: |
        const twice: number = vars.n * 2;
        return twice + 1;
    next: end
`;

interface Paused {
  readonly callFrames: readonly {
    readonly callFrameId: string;
    readonly functionName: string;
    readonly location: { readonly lineNumber: number };
    readonly scopeChain: readonly { readonly type: string; readonly object: { readonly objectId: string } }[];
  }[];
}

interface Target {
  readonly type: string;
  readonly title: string;
  readonly url: string;
  readonly webSocketDebuggerUrl: string;
}

/** The one run that waits for a debugger, as a debugger finds it. */
function waitingRun(port: number): Promise<Target> {
  return eventually(async () => {
    const found = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly Target[];
    expect(found).to.have.length(1);
    return found[0] as Target;
  }, 20_000);
}

describe('a debugger', function () {
  this.timeout(30_000);
  const folder = temporaryFolder();
  let port: number;
  let sandbox: Sandbox;
  beforeEach(async () => {
    port = await freeTcpPort();
    sandbox = await openSandbox({ workers: 1, debuggerPort: port });
  });
  afterEach(() => sandbox.close());

  /** Simulates a scenario whose scripts wait for a debugger. */
  async function debugged(
    name: string,
    source: string,
    script: CallScript = {},
  ): Promise<{ readonly file: string; readonly running: Promise<Simulation> }> {
    const file = path.join(folder, name);
    await writeFile(file, source);
    const { program, problems } = await checkFile({ file, components });
    expect(problems).to.deep.equal([]);
    const running = simulate(program as Program, { components, debug: true, openSandbox: async () => sandbox, script });
    return { file, running };
  }

  it('finds the run as one of Node.js, stops in the .ts file, steps, shows variables and continues', async () => {
    const { file, running } = await debugged('menu.ts', SOURCE, { presses: ['7'] });
    const base = `http://127.0.0.1:${port}`;
    const version = (await (await fetch(`${base}/json/version`)).json()) as Record<string, string>;
    expect(version['Protocol-Version']).to.equal('1.3');
    const target = await waitingRun(port);
    expect(target).to.deep.include({ type: 'node', url: pathToFileURL(file).href });
    expect(target.title).to.match(/^menu, run /);
    const client = await Debugger.attach(target.webSocketDebuggerUrl);
    await client.attachAsVsCode(file, 8);
    const parsed = (await client.event('Debugger.scriptParsed', 'menu.ts')) as unknown as object;
    // As VS Code reads it, for it compares files, and so that it sets no breakpoint twice (a logpoint prints twice then).
    const hash = createHash('sha256').update(SOURCE).digest('hex');
    expect(parsed).to.include({ url: pathToFileURL(file).href, hasSourceURL: false, hash });
    const first = (await client.event('Debugger.paused')) as unknown as Paused;
    expect(first.callFrames[0]?.location.lineNumber).to.equal(7);
    // Longer than every limit of the script.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    client.forget();
    await client.request('Debugger.stepOver');
    const next = (await client.event('Debugger.paused')) as unknown as Paused;
    const [frame] = next.callFrames;
    expect(frame?.location.lineNumber).to.equal(8);
    const scope = frame?.scopeChain.find(({ type }) => type === 'local' || type === 'block');
    const { result: variables } = (await client.request('Runtime.getProperties', {
      objectId: scope?.object.objectId,
      ownProperties: true,
    })) as unknown as { result: readonly { readonly name: string; readonly value?: { readonly value: unknown } }[] };
    expect(variables.find(({ name }) => name === 'doubled')?.value?.value).to.equal(14);
    await client.request('Debugger.resume');
    const { outcome } = await running;
    expect(outcome.value, outcome.error?.message).to.equal(15);
    expect(await (await fetch(`${base}/json/list`)).json()).to.deep.equal([]);
  });

  it('stops in the script of a block, at the line of the YAML file', async () => {
    const { file, running } = await debugged('twice.yaml', BLOCKS);
    const target = await waitingRun(port);
    const client = await Debugger.attach(target.webSocketDebuggerUrl);
    const line = BLOCKS.split('\n').findIndex((text) => text.includes('return')) + 1;
    const { locations } = (await client.attachAsVsCode(file, line)) as unknown as { locations: unknown[] };
    expect(locations).to.have.length(1);
    const paused = (await client.event('Debugger.paused')) as unknown as Paused;
    const [frame] = paused.callFrames;
    expect(frame?.location.lineNumber).to.equal(line - 1);
    const shown = await client.request('Debugger.evaluateOnCallFrame', {
      callFrameId: frame?.callFrameId,
      expression: 'twice',
    });
    expect(shown).to.deep.nested.include({ 'result.value': 6 });
    await client.request('Debugger.resume');
    expect((await running).outcome.status).to.equal('completed');
  });

  it('stops in a file with a relative path', async () => {
    const file = path.join(folder, 'here.ts');
    await writeFile(file, SOURCE);
    const options = { debug: true, press: '7', openSandbox: async () => sandbox };
    const running = runSimulate(path.relative('', file), options, components, () => undefined);
    const target = await waitingRun(port);
    const client = await Debugger.attach(target.webSocketDebuggerUrl);
    const { locations } = (await client.attachAsVsCode(file, 8)) as unknown as { locations: unknown[] };
    expect(locations).to.have.length(1);
    await client.event('Debugger.paused');
    await client.request('Debugger.resume');
    expect(await running).to.equal(0);
  });

  it('that detached is not waited for again, and the run has its time limit', async () => {
    const { running } = await debugged(
      'left.yaml',
      `id: left
limits: { wall: 5s }
start: pick_up
blocks:
  pick_up: { answer: {}, next: first }
  first: { script: { code: "return 1;" }, next: second }
  second: { script: { code: "return 2;" }, next: hold_on }
  hold_on: { wait: 1h, next: end }
`,
      { hangsUpAfter: 600_000 },
    );
    const target = await waitingRun(port);
    (await Debugger.attach(target.webSocketDebuggerUrl)).close();
    const { run, outcome } = await running;
    expect(outcome.error?.code).to.equal('time_limit');
    expect(run.trace.map(({ block }) => block)).to.deep.equal(['pick_up', 'first', 'second', 'hold_on']);
    expect(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()).to.deep.equal([]);
  });

  it('leaves the run its time limit, without the time of debugging', async () => {
    const { running } = await debugged(
      'limited.yaml',
      `id: limited
limits: { wall: 5s }
start: before
blocks:
  before: { wait: 3s, next: first }
  first: { script: { code: "return 1;" }, next: hold_on }
  hold_on: { wait: 1h, next: end }
`,
    );
    const target = await waitingRun(port);
    const client = await Debugger.attach(target.webSocketDebuggerUrl);
    await client.request('Runtime.runIfWaitingForDebugger');
    const { run, outcome } = await running;
    expect(outcome.error?.code).to.equal('time_limit');
    expect(outcome.milliseconds).to.equal(5000);
    expect(run.trace.map(({ block }) => block)).to.deep.equal(['before', 'first', 'hold_on']);
  });

  it('can be Chrome but not a web page, under any host name', async () => {
    // Chrome finds the end of an answer by its length alone.
    const listed = await fetch(`http://127.0.0.1:${port}/json/list`);
    expect(listed.headers.get('content-length')).to.equal('2');
    const asPage = await fetch(`http://127.0.0.1:${port}/json/list`, { headers: { origin: 'https://evil.example' } });
    expect(asPage.status).to.equal(404);
  });
});
