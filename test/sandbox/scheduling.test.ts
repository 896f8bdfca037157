import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect } from 'chai';
import {
  allowedProcessors,
  mayEndIdlePolicy,
  processorsIn,
  withoutFirstProcessor,
} from '../../runtime/processes/index.ts';
import { openSandbox } from '../../runtime/sandbox/index.ts';
import { policiesOf, processorsOf, SCHED_IDLE, SCHED_OTHER } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { startScript } from './support.ts';

const NICE = 10;
const INDEX = new URL('../../runtime/sandbox/index.ts', import.meta.url).href;
const CHILDREN = new URL('../support/children.ts', import.meta.url).href;

type Opened = Awaited<ReturnType<typeof openSandbox>>;

/** What processes really get depends on what else the machine does. */
class Machine {
  readonly #processors = processorsIn(allowedProcessors() ?? '');
  /** Scripts use all processors. */
  scriptsBusy = false;
  /** Others do. */
  othersBusy = false;
  #used = 0;
  #idle = 0;

  readonly processorTime = (): number => {
    if (this.scriptsBusy) this.#used = performance.now() * this.#processors.length;
    return this.#used;
  };

  readonly idleTimes = (): ReadonlyMap<number, number> => {
    if (!this.scriptsBusy && !this.othersBusy) this.#idle = performance.now();
    return new Map(this.#processors.map((processor) => [processor, this.#idle]));
  };
}

describe('sandbox: scheduling of processes', function () {
  this.timeout(20_000);
  const all = allowedProcessors() ?? '';
  const left = withoutFirstProcessor(all) ?? all;
  /** As far as that can be undone. */
  const behind = mayEndIdlePolicy(NICE) ? SCHED_IDLE : SCHED_OTHER;
  let machine: Machine;
  let sandbox: Opened;

  beforeEach(async function () {
    if (process.platform !== 'linux') this.skip();
    machine = new Machine();
    const { processorTime, idleTimes } = machine;
    sandbox = await openSandbox({ workers: 2, nice: NICE, giveWay: true, beatMs: 500, processorTime, idleTimes });
  });

  afterEach(() => sandbox?.close());

  const processors = (): string[] => [...new Set(sandbox.pids.map(processorsOf))];
  const policies = (): string[] => [...new Set(sandbox.pids.flatMap(policiesOf))];
  const become = (expected: readonly [processors: string, policy: string]): Promise<void> =>
    // Those that harmed a process may have one of their own.
    eventually(async () => {
      expect([...processors(), ...policies()]).to.deep.equal(expected);
    }, 12_000);

  it('has the lowest priority from the start, on all processors', () => {
    expect([processors(), policies()]).to.deep.equal([[all], [behind]]);
  });

  it('leaves a processor free while scripts would use all', async () => {
    machine.scriptsBusy = true;
    await become([left, behind]);
    // One that is started meanwhile is kept off it as well.
    process.kill(sandbox.pids[0] ?? 0, 'SIGKILL');
    expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
    await become([left, behind]);
    machine.scriptsBusy = false;
    await become([all, behind]);
  });

  it('gives scripts their share while others keep all processors busy', async () => {
    machine.othersBusy = true;
    const answers = Promise.withResolvers<null>();
    const runs = [1, 2].map(() => startScript(sandbox, { source: 'await echo()', onCommand: () => answers.promise }));
    const ended = Promise.allSettled(runs.map(({ finished }) => finished));
    await become([all, SCHED_OTHER]);
    // One that is started meanwhile as well.
    process.kill(sandbox.pids[0] ?? 0, 'SIGKILL');
    expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
    await become([all, SCHED_OTHER]);
    machine.othersBusy = false;
    await become([all, behind]);
    answers.resolve(null);
    await ended;
  });

  it('also gives a process its share that only has to answer a ping', async () => {
    machine.othersBusy = true;
    for (const pid of sandbox.pids) process.kill(pid, 'SIGSTOP');
    await become([all, SCHED_OTHER]);
    for (const pid of sandbox.pids) process.kill(pid, 'SIGCONT');
    expect((await startScript(sandbox, { source: 'return 2' }).finished).value).to.equal(2);
  });

  it('has the lowest priority with a single processor', () => {
    const ask = `
      import { openSandbox } from '${INDEX}';
      import { policiesOf, processorsOf } from '${CHILDREN}';
      const sandbox = await openSandbox({ workers: 1, nice: ${NICE}, giveWay: true });
      console.log(JSON.stringify(sandbox.pids.flatMap((pid) => [processorsOf(pid), ...new Set(policiesOf(pid))])));
      await sandbox.close();`;
    const only = String(processorsIn(all)[0]);
    const asked = ['-c', only, process.execPath, '--input-type=module', '-e', ask];
    const { stdout, stderr } = spawnSync('taskset', asked, { encoding: 'utf8' });
    expect(JSON.parse(stdout || stderr)).to.deep.equal([only, behind]);
  });
});
