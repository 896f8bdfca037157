import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import type { Program } from '../../runtime/language/index.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import type { Run, RunOptions } from '../../runtime/runs/run/run.ts';
import type { SavedRun } from '../../runtime/runs/run/saved-run.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { openSandbox, type Sandbox } from '../../runtime/sandbox/index.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import type { Log } from '../../runtime/runs/log.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { sourceOf } from '../support/scenarios.ts';
import { silentLog } from '../support/log.ts';

const DEMO = asDomainName('demo.local');
const MINUTE = 60_000;
const NEVER = new AbortController().signal;

const PATIENT = `
export const parameters = { who: 'string' };
export default async function (_, { who }) {
  const { status } = await http.request('https://a.example/before');
  const heard = [];
  events.on('message', ({ name }) => heard.push(name));
  await sleep('1m');
  const late = sleep('2h').then(() => 'late');
  const order = scenario.receive({ message: 'order', timeout: '1h' }).then(({ data }) => data);
  const data = await Promise.race([order, late]);
  await http.request('https://a.example/after');
  return { who, status, data, heard, run: (await scenario.info()).run };
}
`;

/** A node, with what its runs ask before they go on. */
class TestKeeper {
  readonly asked: string[] = [];
  isMine = true;
  readonly services: RunServices;
  readonly #clock: VirtualClock;
  readonly #log: Log;

  constructor(clock: VirtualClock, sandbox: Sandbox, log: Log = silentLog) {
    this.#clock = clock;
    this.#log = log;
    const goesOn = async (run: string): Promise<boolean> => {
      this.asked.push(run);
      return this.isMine;
    };
    const http = { 'GET https://a.example/before': { status: 201 }, 'GET https://a.example/after': { status: 202 } };
    this.services = { ...simulatedServices({ clock, http }), sandbox, keeper: { goesOn } };
  }

  start(checked: Program, options: Pick<RunOptions, 'id' | 'args' | 'resume'> = {}): Run {
    return startRun(checked, { ...options, domain: DEMO, clock: this.#clock, log: this.#log, services: this.services });
  }
}

describe('a module that waits without a call', function () {
  this.timeout(20_000);
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  const pass = (clock: VirtualClock, minutes: number) => clock.run(clock.sleep(minutes * MINUTE, NEVER));

  async function module(source: string): Promise<Program> {
    const { program, problems } = await checkModule(source, {
      file: 'm.js',
      components,
      compile: sandbox.compile.bind(sandbox),
    });
    expect(problems.filter(({ severity }) => severity !== 'warning')).to.deep.equal([]);
    return program as Program;
  }

  /** Starts a module at one node, and goes on with it at another after some minutes, while the first still has it. */
  async function moved(source: string, minutes: number, before: (run: Run) => void = () => undefined) {
    const clock = new VirtualClock(Date.UTC(2026, 10, 20));
    const [first, second] = [new TestKeeper(clock, sandbox), new TestKeeper(clock, sandbox)];
    const checked = await module(source);
    const run = first.start(checked, { args: { who: 'bob' } });
    before(run);
    await pass(clock, minutes);
    const resume = JSON.parse(JSON.stringify(await run.save(5000))) as SavedRun;
    first.isMine = false;
    const { id, args } = resume;
    const resumed = second.start(checked, { id, args, resume });
    return { clock, first, second, run, resumed };
  }

  const steps = ({ trace }: Run) => trace.map(({ step, block, exit }) => [step, block, exit]);

  it('goes on at another node with its values, its time and its trace, and ends at the first one without a word', async () => {
    const { clock, run, resumed } = await moved(PATIENT, 31);
    await pass(clock, 1);
    resumed.send({ name: 'other', data: 1, from: 'x' });
    await pass(clock, 1);
    expect(steps(resumed)).to.deep.equal([
      [1, 'http.request', 'next'],
      [2, 'sleep', 'next'],
      [3, 'sleep', undefined],
      [4, 'scenario.receive', undefined],
    ]);
    resumed.send({ name: 'order', data: 7, from: 'x' });
    expect(run.send({ name: 'order', data: 8, from: 'x' })).to.equal(true);
    const { value, milliseconds } = await clock.run(resumed.finished);
    expect(value).to.deep.equal({ who: 'bob', status: 201, data: 7, heard: ['other', 'order'], run: run.id });
    expect(Math.round(milliseconds / MINUTE)).to.equal(33);
    expect(steps(resumed).slice(3)).to.deep.equal([
      [4, 'scenario.receive', 'next'],
      [5, 'http.request', 'next'],
    ]);
    await clock.run(run.finished);
    expect([run.outcome?.status, run.outcome?.error]).to.deep.equal(['stopped', undefined]);
    expect([run.isTaken, resumed.isTaken]).to.deep.equal([true, false]);
    expect(steps(run).filter(([, block]) => block === 'http.request').length).to.equal(1);
    expect(run.send({ name: 'order', data: 9, from: 'x' })).to.equal(false);
  });

  it('has what is left of its time', async () => {
    const { clock, resumed } = await moved(PATIENT, 31);
    const { value, milliseconds } = await clock.run(resumed.finished);
    // The timeout of `receive` counts from its begin at the first node.
    expect(value).to.include({ data: null });
    expect(Math.round(milliseconds / MINUTE)).to.equal(61);
    expect(resumed.trace.find(({ block }) => block === 'scenario.receive')?.milliseconds).to.equal(60 * MINUTE);
  });

  it('is not kept before it has waited, while a request is on its way, and with sensitive values or secrets', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 20));
    const keeper = new TestKeeper(clock, sandbox);
    const patient = keeper.start(await module(PATIENT), { args: { who: 'bob' } });
    await clock.run(clock.sleep(4000, NEVER));
    expect(await patient.save(5000)).to.equal(undefined);
    await pass(clock, 2);
    expect(await patient.save(5000))
      .to.have.nested.property('module.waits')
      .with.lengthOf(2);
    patient.sensitive.add('4711');
    expect(await patient.save(5000)).to.equal(undefined);
    const secret = keeper.start(await module("export default async () => { log('a' in secrets); await sleep('1h'); }"));
    const plain = keeper.start(await module("export default async () => { await sleep('1h'); }"));
    await pass(clock, 1);
    expect(await secret.save(5000)).to.equal(undefined);
    expect(await plain.save(5000)).to.be.an('object');
  });

  it('says once why it is not kept when its script was given too much', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 20));
    const said: unknown[] = [];
    const log: Log = { ...silentLog, warn: (...line: unknown[]) => void said.push(line) };
    const keeper = new TestKeeper(clock, sandbox, log);
    const run = keeper.start(
      await module("export default async (_, { text }) => { await sleep('1h'); return text; }"),
      {
        args: { text: 'x'.repeat(40_000) },
      },
    );
    await pass(clock, 1);
    for (let look = 0; look < 2; look += 1) expect(await run.save(5000)).to.equal(undefined);
    const reason = 'its script was given more than 32768 characters of JSON';
    expect(said).to.deep.equal([[{ run: run.id, scenario: 'm', reason }, 'a waiting run would end with its node']]);
  });

  it('that ends while it waits is no longer kept', async () => {
    const own = await openSandbox({ workers: 1 });
    try {
      const clock = new VirtualClock(Date.UTC(2026, 10, 20));
      const keeper = new TestKeeper(clock, own);
      const run = keeper.start(await module("export default async () => (await events.next('message')).name;"));
      await pass(clock, 2);
      expect(await run.save(5000)).to.be.an('object');
      keeper.asked.length = 0;
      await own.close();
      expect((await clock.run(run.finished)).error?.code).to.equal('sandbox_lost');
      expect(keeper.asked).to.include(run.id);
    } finally {
      await own.close();
    }
  });

  it('is not begun anew by a node that does not know the form of its record', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 20));
    const { services } = new TestKeeper(clock, sandbox);
    const checked = await module("export default async () => { await sleep('1h'); }");
    const run = new TestKeeper(clock, sandbox).start(checked);
    await pass(clock, 1);
    const saved = await run.save(5000);
    const { script, ...rest } = saved?.module ?? expect.fail('it is kept');
    const other = { ...saved, module: { ...rest, script: { ...script, form: 99 } } } as SavedRun;
    const runner = new ScenarioRunner(
      sourceOf(() => checked),
      silentLog,
      services,
    );
    const error = await runner.resume({ run: other, caller: { callid: '' } }).catch((reason: unknown) => reason);
    expect(error).to.include({
      code: 'unavailable',
      message: 'its record has the form 99, which this node does not know',
    });
    expect(runner.running).to.equal(0);
  });
});
