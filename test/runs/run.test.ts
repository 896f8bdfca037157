import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Type } from 'typebox';
import { components } from '../../runtime/component-registry/index.ts';
import { checkScenario } from '../../runtime/language/checker/check-scenario.ts';
import { type Component, componentRegistry, defineComponent } from '../../runtime/runs/component.ts';
import type { Report } from '../../runtime/runs/run/report.ts';
import { ArgumentError } from '../../runtime/language/errors.ts';
import type { Program } from '../../runtime/language/program.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { keepingLog, silentLog } from '../support/log.ts';
import { program, promptsFolder, services, simulate } from '../support/scenarios.ts';

const WITH_FINALLY = `
id: waiting
start: pick_up
finally: note
blocks:
  pick_up:
    answer:
    next: listen
  listen:
    echo:
    next: end
  note:
    report:
      fields: { by: "\${call.ended_by}", reason: "\${call.end_reason}" }
`;

const LOOP = `
id: loop
variables: { n: 0 }
start: count
finally: note
blocks:
  count:
    set: { n: "\${n + 1}" }
    next: again
  again:
    if: n < 100000
    exits: { then: count, else: end }
  note:
    report: { fields: { why: "\${error.code}", where: "\${error.block}" } }
`;

/** A scenario with one component of our own. */
function programWith(component: Component, source: string): Program {
  const registry = componentRegistry([...components.values(), component]);
  const { program: checked, problems } = checkScenario(source, {
    file: 'test.yaml',
    components: registry,
    promptsFolder,
  });
  expect(problems).to.deep.equal([]);
  return checked as Program;
}

describe('scenario run', () => {
  it('runs block by block and leaves a trace', async () => {
    const { run, outcome } = await simulate(
      `
id: trace
parameters: { to: string, n: { type: integer, default: 2 } }
variables: { greeting: "", limit: "\${n * 2}" }
start: pick_up
blocks:
  pick_up:
    answer:
    next: greet
  greet:
    set: { greeting: "Hello \${to} \${n + 1} of \${limit}" }
    next: ask
  ask:
    collect: { prompt: menu.wav, max: 2 }
    exits: { next: end, timeout: end }
`,
      { presses: ['42'] },
      { args: { to: 'bob' } },
    );
    expect(outcome).to.deep.include({ status: 'completed', steps: 3, milliseconds: 200 });
    expect(run.trace).to.deep.equal([
      { step: 1, branch: 'main', block: 'pick_up', component: 'answer', start: 0, exit: 'next', milliseconds: 0 },
      {
        step: 2,
        branch: 'main',
        block: 'greet',
        component: 'set',
        start: 0,
        exit: 'next',
        variables: { greeting: 'Hello bob 3 of 4' },
        milliseconds: 0,
      },
      {
        step: 3,
        branch: 'main',
        block: 'ask',
        component: 'collect',
        subject: 'menu.wav',
        start: 0,
        exit: 'next',
        result: { digits: '42', terminator: '' },
        milliseconds: 200,
      },
    ]);
  });

  it('shows the running block', async () => {
    const { run } = await simulate(
      WITH_FINALLY,
      { hangsUpAfter: 5000 },
      {
        during: (live, clock) => {
          void clock.sleep(1000, new AbortController().signal).then(() => {
            expect(live.phase).to.equal('main');
            expect(live.trace.at(-1)).to.deep.equal({
              step: 2,
              branch: 'main',
              block: 'listen',
              component: 'echo',
              start: 0,
            });
          });
        },
      },
    );
    expect(run.phase).to.equal('finished');
  });

  it('is interrupted by a hang-up of the other party, and continues with finally', async () => {
    const { outcome, steps } = await simulate(WITH_FINALLY, { hangsUpAfter: 5000 });
    expect(outcome).to.deep.include({
      status: 'ended',
      reason: 'opponent: hung up',
      milliseconds: 5000,
      result: { by: 'opponent', reason: 'hung up' },
    });
    expect(steps).to.deep.equal(['pick_up -> next', 'listen -> interrupted', 'note -> next']);
  });

  it('is interrupted when the call is ended from outside', async () => {
    const { outcome, steps } = await simulate(
      WITH_FINALLY,
      {},
      {
        during: (_, clock, call) =>
          void clock.sleep(700, new AbortController().signal).then(() => call.end('external', 'DELETE')),
      },
    );
    expect(outcome).to.deep.include({ status: 'ended', reason: 'external: DELETE', milliseconds: 700 });
    expect(steps).to.deep.equal(['pick_up -> next', 'listen -> interrupted', 'note -> next']);
  });

  it('continues after its own hang-up', async () => {
    const { outcome, steps } = await simulate(`
id: after
variables: { done: false }
start: pick_up
blocks:
  pick_up:
    answer:
    next: bye
  bye:
    hangup:
    next: note
  note:
    set: { done: true }
    next: pause
  pause:
    wait: 1h
    next: end
`);
    expect(steps).to.deep.equal(['pick_up -> next', 'bye -> next', 'note -> next', 'pause -> next']);
    expect(outcome).to.deep.include({ status: 'completed', milliseconds: 3_600_000 });
  });

  it('runs only finally when the call ended before its start', async () => {
    const clock = new VirtualClock();
    const call = new SimulatedCall(clock);
    call.end('opponent', 'cancelled');
    const run = startRun(program(WITH_FINALLY), { call, clock, log: silentLog, services: services({}, clock) });
    expect((await clock.run(run.finished)).status).to.equal('ended');
    expect(run.trace.map(({ block }) => block)).to.deep.equal(['note']);
  });

  it('stops on request, runs finally, and hangs up', async () => {
    const { outcome, steps, events } = await simulate(
      WITH_FINALLY,
      {},
      {
        during: (run, clock) =>
          void clock.sleep(100, new AbortController().signal).then(() => run.stop('shutting down')),
      },
    );
    expect(outcome).to.deep.include({ status: 'stopped', reason: 'shutting down' });
    expect(steps).to.deep.equal(['pick_up -> next', 'listen -> interrupted', 'note -> next']);
    expect(events.at(-1)).to.equal('ended by scenario: hangup');
  });

  it('takes the error exit with the error in its variables', async () => {
    const { outcome, steps } = await simulate(`
id: errors
start: greet
blocks:
  greet:
    menu: { prompt: welcome.wav }
    exits: { 1: end, failed: end, error: note }
  note:
    report:
      fields: { code: "\${error.code}", block: "\${error.block}", message: "\${error.message}" }
    next: end
`);
    expect(steps).to.deep.equal(['greet -> error', 'note -> next']);
    expect(outcome).to.deep.include({
      status: 'completed',
      result: {
        code: 'call_state',
        block: 'greet',
        message: 'menu is not possible: the call is incoming; answer it first',
      },
    });
  });

  it('fails without an error exit, runs finally, and refuses the unanswered call', async () => {
    const log = keepingLog();
    const { outcome, steps, events } = await simulate(
      `id: errors
start: greet
finally: note
blocks:
  greet:
    play: welcome.wav
    next: end
  note:
    report: finished
`,
      {},
      { log },
    );
    expect(outcome).to.deep.include({
      status: 'failed',
      error: {
        code: 'call_state',
        message: 'play is not possible: the call is incoming; answer it first',
        block: 'greet',
      },
    });
    expect(steps).to.deep.equal(['greet -> error', 'note -> next']);
    expect(events).to.deep.equal(['reject 480 Temporarily Unavailable', 'ended by scenario: rejected 480']);
    expect(log.lines).to.deep.equal(['warn: scenario failed']);
    // A refusal is a line with its reason: no stack.
    expect(log.entries[0])
      .to.deep.include({ code: 'call_state', reason: outcome.error?.message })
      .and.not.have.key('err');
  });

  it('fails with an invalid setting computed at run time', async () => {
    const { outcome } = await simulate(
      `id: dyn
parameters: { n: integer }
start: pick_up
blocks:
  pick_up:
    answer:
    next: greet
  greet:
    play:
      sounds: welcome.wav
      repeat: \${n}
    next: end
`,
      {},
      { args: { n: 0 } },
    );
    expect(outcome.error).to.deep.equal({
      code: 'setting',
      message: 'play: the setting repeat must be >= 1',
      block: 'greet',
    });
  });

  it('refuses a prompt outside the prompts folder computed at run time', async () => {
    for (const [file, message] of [
      ['../README.md', '"../README.md" is outside the prompts folder'],
      ['/etc/passwd', '"/etc/passwd" is outside the prompts folder'],
      ['nothing.wav', 'the folder prompts has no prompt "nothing.wav" for the language en'],
    ] as const) {
      const { outcome } = await simulate(
        `id: dyn
parameters: { f: string }
start: pick_up
blocks:
  pick_up:
    answer:
    next: greet
  greet:
    play: \${f}
    next: end
`,
        {},
        { args: { f: file } },
      );
      expect(outcome.error).to.deep.equal({ code: 'no_such_prompt', message, block: 'greet' });
    }
  });

  it('stops a loop that never waits, and lets others run meanwhile', async () => {
    let turns = 0;
    const other = setInterval(() => (turns += 1), 0);
    const { outcome, steps } = await simulate(LOOP, {}, { limits: { traceEntries: 3 } });
    clearInterval(other);
    expect(outcome.error?.code).to.equal('step_limit');
    expect(outcome.result).to.deep.equal({ why: 'step_limit', where: 'count' });
    expect(outcome.steps).to.equal(1001);
    expect(steps.at(-1)).to.equal('note -> next');
    expect(steps).to.have.length(3);
    expect(turns).to.be.greaterThan(0);
  });

  it('tells `finally` of an exceeded time limit', async () => {
    const { outcome } = await simulate(`id: slow
limits: { wall: 1s }
start: pause
finally: note
blocks:
  pause: { wait: 1m, next: end }
  note: { report: { fields: { why: "\${error.code}", what: "\${error.message}" } } }
`);
    expect(outcome.result).to.deep.equal({ why: 'time_limit', what: 'the run took longer than 1000 ms' });
  });

  it('shows in the trace that the limit of log lines is reached, once', async () => {
    const { run } = await simulate(`id: talkative
limits: { log: 2 }
start: each
blocks:
  each: { loop: { times: 4 }, exits: { each: note, done: end } }
  note: { log: "line \${each.index}", next: each }
`);
    expect(run.trace.flatMap(({ log = [] }) => log)).to.deep.equal([
      'info: line 0',
      'info: line 1',
      'warn: the limit "log" of 2 lines is reached; this line and all further ones are left out',
    ]);
  });

  it('does not stop a loop that waits', async () => {
    const { outcome } = await simulate(
      `id: slow
variables: { n: 0 }
start: pause
blocks:
  pause:
    wait: 1m
    next: count
  count:
    set: { n: "\${n + 1}" }
    next: again
  again:
    if: n < 2000
    exits: { then: pause, else: end }
`,
    );
    expect(outcome).to.deep.include({ status: 'completed', steps: 6000, milliseconds: 120_000_000 });
  });

  it('ends a finally branch that takes too long', async () => {
    const { outcome, steps } = await simulate(
      `id: slow
start: a
finally: b
blocks:
  a:
    hangup:
  b:
    wait: 1h
    next: end
`,
    );
    expect(outcome.milliseconds).to.equal(60_000);
    expect(steps).to.deep.equal(['a -> next', 'b -> interrupted']);
  });

  it('abandons a block that ignores its abort', async () => {
    const stubborn = defineComponent({
      name: 'stubborn',
      summary: '',
      docs: '',
      settings: Type.Object({}),
      exits: { next: { description: '' } },
      results: {},
      run: () => new Promise<never>(() => undefined),
    });
    const log = keepingLog();
    const { outcome, steps } = await simulate(
      programWith(
        stubborn,
        `id: s
start: a
finally: b
blocks:
  a:
    answer:
    next: c
  c:
    stubborn:
    next: end
  b:
    report: finished
`,
      ),
      { hangsUpAfter: 1000 },
      { log },
    );
    expect(outcome).to.deep.include({ status: 'ended', milliseconds: 6000 });
    expect(steps).to.deep.equal(['a -> next', 'c -> interrupted', 'b -> next']);
    expect(log.lines).to.deep.equal(['error: block did not end after an interrupt']);
  });

  it('passes reports to its sink, also those after its end', async () => {
    const reports: Report[] = [];
    const { outcome, clock } = await simulate(
      `id: r
start: a
blocks:
  a:
    call: { to: 101, caller_id: 100, mode: async, report_as: F }
    next: b
  b:
    report: { milestone: finished, fields: { n: 1 } }
`,
      { direction: 'outgoing', dialled: [{ after: 50, status: 180 }] },
      { report: (report) => reports.push(report) },
    );
    await clock.run(new Promise(setImmediate));
    expect(outcome.result).to.deep.equal({ n: 1 });
    expect(reports.map(({ milestone, answer }) => `${milestone} ${answer?.line ?? ''}`.trim())).to.deep.equal([
      'F initiated',
      'finished',
      'F final SIP/2.0 487 Request Terminated',
    ]);
  });

  it('ignores a throwing sink', async () => {
    const log = keepingLog();
    const { outcome } = await simulate(
      `id: r
start: a
blocks:
  a:
    report: finished
`,
      {},
      {
        log,
        report: () => {
          throw new Error('sink');
        },
      },
    );
    expect(outcome.status).to.equal('completed');
    expect(log.lines).to.deep.equal(['error: report could not be passed on']);
  });

  it('refuses arguments the parameters do not allow', () => {
    const checked = program(
      `id: p
parameters:
  to: string
  n: { type: integer, default: 1, values: [1, 2] }
start: a
blocks:
  a:
    hangup:
`,
    );
    for (const [args, message] of [
      [{}, 'parameter to: is required'],
      [{ to: 5 }, 'parameter to: must be of type string'],
      [{ to: 'a', n: 1.5 }, 'parameter n: must be of type integer'],
      [{ to: 'a', n: 3 }, 'parameter n: must be one of 1, 2'],
      [{ to: 'a', x: 3 }, 'parameter x: the scenario has no such parameter'],
    ] as const) {
      expect(() => startRun(checked, { args, log: silentLog, services: services() })).to.throw(ArgumentError, message);
    }
  });

  it('refuses arguments that make the first value of a variable fail', () => {
    const checked = program(
      `id: p
parameters: { n: integer }
variables: { m: "\${10 / n}" }
start: a
blocks:
  a:
    hangup:
`,
    );
    expect(() => startRun(checked, { args: { n: 0 }, log: silentLog, services: services() })).to.throw(
      ArgumentError,
      'parameter m: ${10 / n}: division by zero',
    );
  });

  it('fails in a component that needs a call in a run without one', async () => {
    const run = startRun(
      program(`id: p
start: a
blocks:
  a:
    answer:
    next: end
`),
      {
        log: silentLog,
        services: services(),
      },
    );
    expect((await run.finished).error).to.deep.equal({
      code: 'no_call',
      message: 'answer needs a call, and this run has none',
      block: 'a',
    });
  });

  it('leaves no listener and no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    // Mocha sets its own timer once the test has returned a promise.
    await new Promise(setImmediate);
    const before = timers();
    const { call } = await simulate(WITH_FINALLY, { hangsUpAfter: 100 });
    expect(getEventListeners(call.endSignal, 'abort')).to.deep.equal([]);
    const finished = await simulate(
      `id: p
start: a
blocks:
  a:
    answer:
    next: b
  b:
    play: welcome.wav
    next: c
  c:
    hangup:
`,
    );
    expect(getEventListeners(finished.call.endSignal, 'abort')).to.deep.equal([]);
    expect(timers()).to.be.at.most(before);
  });
});
