import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { Program } from '../../runtime/language/index.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import type { Run, RunOptions } from '../../runtime/runs/run/run.ts';
import type { SavedRun } from '../../runtime/runs/run/saved-run.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { program } from '../support/scenarios.ts';

const DEMO = asDomainName('demo.local');
const MINUTE = 60_000;
const NEVER = new AbortController().signal;

const PATIENT = `
id: patient
parameters: { who: { type: string } }
variables: { count: 0 }
start: first
blocks:
  first: { set: { count: "\${count + 1}" }, next: early }
  early: { wait: 1m, next: pause }
  pause: { wait: 1h, next: order }
  order:
    receive: { message: order, timeout: 30m }
    exits: { next: done, timeout: late }
  done: { return: { who: "\${who}", count: "\${count}", data: "\${order.data}", run: "\${scenario.run}" } }
  late: { return: late }
`;

/** A node, with what its runs ask before they go on. */
class TestKeeper {
  readonly asked: string[] = [];
  isMine = true;
  readonly services: RunServices;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    const goesOn = (run: string): boolean => {
      this.asked.push(run);
      return this.isMine;
    };
    this.services = { ...simulatedServices({ clock }), keeper: { goesOn } };
  }

  start(checked: Program, options: Pick<RunOptions, 'id' | 'args' | 'resume'>): Run {
    return startRun(checked, { ...options, domain: DEMO, clock: this.#clock, log: silentLog, services: this.services });
  }
}

describe('a run that waits without a call', () => {
  const pass = (clock: VirtualClock, minutes: number) => clock.run(clock.sleep(minutes * MINUTE, NEVER));

  /** Starts a run at one node, and goes on with it at another one after some minutes, while the first one still has it. */
  async function moved(source: string, minutes: number, before: (run: Run) => void = () => undefined) {
    const clock = new VirtualClock(Date.UTC(2026, 10, 20));
    const [first, second] = [new TestKeeper(clock), new TestKeeper(clock)];
    const checked = program(source);
    const args = checked.parameters.length > 0 ? { who: 'bob' } : {};
    const run = first.start(checked, { args });
    await pass(clock, minutes);
    before(run);
    const resume = JSON.parse(JSON.stringify(await run.save(5000))) as SavedRun;
    first.isMine = false;
    const { id } = resume;
    const resumed = second.start(checked, { id, args: resume.args, resume });
    return { clock, first, second, run, resumed };
  }

  it('goes on at another node with its values, its time and its trace, and ends at the first one without a word', async () => {
    const { clock, first, second, run, resumed } = await moved(PATIENT, 31);
    await pass(clock, 29);
    const steps = ({ trace }: Run) => trace.map(({ block, exit }) => [block, exit]);
    expect(steps(resumed)).to.deep.equal([
      ['first', 'next'],
      ['early', 'next'],
      ['pause', undefined],
    ]);
    await pass(clock, 2);
    expect(run.outcome).to.include({ status: 'stopped' });
    expect(run.isTaken).to.equal(true);
    resumed.send({ name: 'order', data: 7, from: 'x' });
    const { value, steps: count, milliseconds } = await clock.run(resumed.finished);
    expect(value).to.deep.equal({ who: 'bob', count: 1, data: 7, run: run.id });
    expect([count, Math.round(milliseconds / MINUTE)]).to.deep.equal([5, 62]);
    expect(resumed.trace.find(({ block }) => block === 'pause')?.milliseconds).to.equal(60 * MINUTE);
    expect([first.asked.length, second.asked]).to.deep.equal([2, [run.id, run.id, run.id]]);
    expect(resumed.isTaken).to.equal(false);
  });

  it('keeps messages that it has not received', async () => {
    const { clock, first, run, resumed } = await moved(PATIENT, 2, (waiting) =>
      waiting.send({ name: 'order', data: 'early', from: 'x' }),
    );
    // At the end of its first wait, and so that it is kept anew, with the message.
    expect(first.asked).to.deep.equal([run.id, run.id]);
    expect((await clock.run(resumed.finished)).value).to.deep.include({ data: 'early' });
  });

  it('keeps its interrupts by time, those that are over left out, and runs no `finally` where it was', async () => {
    const { clock, run, resumed } = await moved(
      `
id: timed
on: { after: { 10m: soon, 40m: late } }
variables: { count: 0 }
finally: tidy
start: pause
blocks:
  pause: { wait: 2h, next: end }
  soon: { set: { count: "\${count + 1}" }, next: pause }
  late: { return: "\${count}" }
  tidy: { log: tidy, next: end }
`,
      20,
    );
    const { value, milliseconds } = await clock.run(resumed.finished);
    expect([value, milliseconds]).to.deep.equal([1, 40 * MINUTE]);
    expect(resumed.trace.map(({ block }) => block)).to.include('tidy');
    await clock.run(run.finished);
    expect(run.trace.map(({ block }) => block)).not.to.include('tidy');
  });

  it('is not kept before it has waited for a while, with sensitive values, or while it is in another block', async () => {
    const clock = new VirtualClock();
    const keeper = new TestKeeper(clock);
    const run = keeper.start(program(PATIENT), { args: { who: 'bob' } });
    await clock.run(clock.sleep(4000, NEVER));
    expect(run.save(5000)).to.equal(undefined);
    await pass(clock, 2);
    expect((await run.save(5000))?.blocks?.block).to.equal('pause');
    run.sensitive.add('4711');
    expect(run.save(5000)).to.equal(undefined);
    const busy = keeper.start(
      program('id: busy\nstart: a\nblocks:\n  a: { http: "https://a.example", next: end }'),
      {},
    );
    await pass(clock, 0.2);
    expect(busy.save(5000)).to.equal(undefined);
  });
});
