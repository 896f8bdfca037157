import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import type { Run } from '../../runtime/runs/run/run.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { problems, program, simulate } from '../support/scenarios.ts';

/** Runs the first scenario; it finds the others by their id. */
async function together(
  sources: readonly string[],
  {
    args = {},
    during,
    ...script
  }: CallScript & {
    readonly args?: Record<string, string>;
    readonly during?: (run: Run, clock: VirtualClock) => void;
  } = {},
) {
  const programs = new Map<string, Program>(sources.map(program).map((each) => [each.id, each]));
  const clock = new VirtualClock();
  const call = new SimulatedCall(clock, script);
  const services: RunServices = { ...simulatedServices({ clock }), scenarios: async (id) => programs.get(id) };
  const [first] = programs.values();
  const run = startRun(first as Program, { call, clock, args, log: silentLog, services });
  during?.(run, clock);
  const outcome = await clock.run(run.finished);
  const steps = run.trace.map(({ block, exit }) => `${block} -> ${exit ?? '?'}`);
  return { run, outcome, steps, call, services, events: call.events.map(({ what }) => what) };
}

const ASK = `id: ask
parameters: { digits: { type: integer, default: 1 } }
start: enter
finally: note
blocks:
  enter:
    collect: { max: "\${digits}" }
    exits: { next: give, timeout: nothing }
  give:
    return: { digits: "\${enter.digits}" }
  nothing:
    fail: { code: nothing_entered, message: no digits }
  note:
    log: done
    next: end
`;

describe('scenario language', () => {
  describe('nested scenarios', () => {
    const caller = `id: main
start: pick_up
blocks:
  pick_up:
    answer:
    next: number
  number:
    run: { scenario: ask, args: { digits: 2 } }
    exits: { next: note, error: lost }
  note:
    report: { fields: { got: "\${number.value.digits}", status: "\${number.status}" } }
    next: end
  lost:
    report: { fields: { code: "\${error.code}", message: "\${error.message}" } }
    next: end
`;

    it('have the call and return a value', async () => {
      const { outcome, steps, run, events } = await together([caller, ASK], { presses: ['42'] });
      expect(outcome).to.deep.include({ status: 'completed', result: { got: '42', status: 'completed' } });
      expect(steps).to.deep.equal(['pick_up -> next', 'number -> next', 'note -> next']);
      const [child] = run.children;
      expect(child?.trace.map(({ block }) => block)).to.deep.equal(['enter', 'give', 'note']);
      expect(run.trace[1]?.runs).to.deep.equal([child?.id]);
      // The call is hung up once, by the run that it belongs to.
      expect(events.filter((event) => event === 'hangup')).to.have.length(1);
    });

    it('pass their errors to the parent', async () => {
      const { outcome } = await together([caller, ASK]);
      expect(outcome.result).to.deep.equal({ code: 'nothing_entered', message: 'ask: no digits' });
    });

    it('run their finally branch at the end of the call', async () => {
      const { outcome, run, steps } = await together([caller, ASK], { hangsUpAfter: 1000 });
      expect(outcome).to.deep.include({ status: 'ended', milliseconds: 1000 });
      expect(steps.at(-1)).to.equal('number -> interrupted');
      expect(run.children[0]?.trace.map(({ block, exit }) => `${block} ${exit}`)).to.deep.equal([
        'enter interrupted',
        'note next',
      ]);
    });

    describe('when the caller hangs up', () => {
      const main = (more = '') => `id: main
start: pick_up
finally: last
${more === '' ? '' : 'on: { hangup: gone }'}
blocks:
  pick_up:
    answer:
    next: begin
  begin:
    run: inner
    next: end
${more}
  last:
    report: { fields: { status: "\${begin.status}", value: "\${begin.value}" } }
    next: end
`;
      const gone = '  gone:\n    wait: 1s\n    next: end';
      const inner = (more: string) => `id: inner
start: pick_up
${more}
blocks:
  pick_up:
    answer:
    next: pause
  pause:
    wait: 1h
    next: end
  note:
    wait: 10s
    next: give
  give:
    return: noted
`;
      const endOf = (run: Run) =>
        [...run.children.map((child) => child.outcome), run.outcome].map(
          (outcome) => `${outcome?.status}: ${outcome?.reason}, ${outcome?.milliseconds}`,
        );
      const stepsOf = ({ trace }: Run) => trace.map(({ block, branch, exit }) => `${branch} ${block} ${exit}`);

      for (const [what, more, branch] of [
        ['finally', 'finally: note', 'finally'],
        ['on hangup', 'on: { hangup: note }', 'main'],
      ] as const) {
        for (const own of ['', gone]) {
          it(`end as by themselves, with all of ${what}, before their parent${own && ' continues'}`, async () => {
            const alone = await together([inner(more)], { hangsUpAfter: 1000 });
            const { run } = await together([main(own), inner(more)], { hangsUpAfter: 1000 });
            const [child] = run.children;
            const later = own === '' ? 0 : 1000;
            expect(endOf(run)).to.deep.equal([
              'ended: opponent: hung up, 11000',
              `ended: opponent: hung up, ${11_000 + later}`,
            ]);
            expect(stepsOf(child as Run)).to.deep.equal([
              'main pick_up next',
              'main pause interrupted',
              `${branch} note next`,
              `${branch} give returned`,
            ]);
            expect(stepsOf(alone.run)).to.deep.equal(stepsOf(child as Run));
            expect(run.outcome?.result).to.deep.equal({ status: 'ended', value: 'noted' });
          });
        }
      }

      it('finish a finally branch in progress', async () => {
        const { run } = await together([main(), inner('finally: note').replace('1h', '1s')], { hangsUpAfter: 3000 });
        expect(endOf(run)[0]).to.equal('completed: undefined, 11000');
        expect(run.outcome?.result).to.deep.equal({ status: 'completed', value: 'noted' });
      });

      it('are stopped after their parent', async () => {
        for (const own of ['', gone]) {
          const { run } = await together([main(own), inner('on: { hangup: note }')], {
            hangsUpAfter: 1000,
            during: (at, clock) => void clock.sleep(2000, new AbortController().signal).then(() => at.stop('enough')),
          });
          expect(endOf(run)[0]).to.equal('ended: opponent: hung up, 2000');
          expect(run.outcome).to.deep.include({ status: 'ended', milliseconds: 2000 });
        }
      });
    });

    it('are refused when unknown, with wrong arguments, or in endless recursion', async () => {
      const codeOf = async (...sources: string[]) => (await together(sources)).outcome;
      expect((await codeOf(caller)).result['code']).to.equal('no_such_scenario');
      expect(
        (await codeOf(caller, ASK.replace('digits: {', 'other: {').replace('"${digits}"', '1'))).result['code'],
      ).to.equal('argument');
      const endless = `id: main
start: a
blocks:
  a:
    run: main
    next: end
`;
      expect((await codeOf(endless)).error?.code).to.equal('too_deep');
    });

    it('can be called any number of times, a hundred at once', async () => {
      const many = (mode: string) => `id: main
start: l
blocks:
  l:
    loop: { times: 300 }
    exits: { each: r, done: give }
  r:
    run: { scenario: other, mode: ${mode} }
    next: l
  give:
    return: done
`;
      const other = (block: string) => `id: other
start: a
blocks:
  a:
    ${block}
    next: end
`;
      const called = await together([many('call'), other('wait: 1s')], { hangsUpAfter: 1e6 });
      expect(called.outcome).to.deep.include({ value: 'done', milliseconds: 300_000 });
      expect(called.run.children).to.have.length(51);
      expect((await together([many('parallel'), other('wait: 1h')])).outcome.error?.code).to.equal('too_many');
    });

    it('run in parallel, and are awaited', async () => {
      const { outcome } = await together(
        [
          `id: main
start: begin
blocks:
  begin:
    run: { scenario: slow, mode: parallel, args: { who: bob } }
    next: pick_up
  pick_up:
    answer:
    next: too_early
  too_early:
    await_run: { run: "\${begin.run}", timeout: 1s }
    exits: { next: end, timeout: again }
  again:
    await_run: "\${begin.run}"
    exits: { next: note, timeout: end }
  note:
    return: "\${again.value}"
`,
          `id: slow
parameters: { who: string }
start: dial
blocks:
  dial:
    call: { to: "102", caller_id: "100" }
    exits: { answered: pause, refused: end }
  pause:
    wait: 2s
    next: give
  give:
    return: "Hello \${who}"
`,
        ],
        { hangsUpAfter: 60_000 },
      );
      expect(outcome).to.deep.include({ status: 'completed', value: 'Hello bob', milliseconds: 3000 });
    });

    it('end with their parent unless started with keep', async () => {
      const source = (keep: boolean) => `id: main
start: begin
blocks:
  begin:
    run: { scenario: long, mode: parallel, keep: ${keep} }
    next: pause
  pause:
    wait: 1s
    next: end
`;
      const long = `id: long
start: a
blocks:
  a:
    wait: 1h
    next: end
`;
      const stopped = await together([source(false), long]);
      expect((await stopped.run.children[0]?.finished)?.status).to.equal('stopped');
      const kept = await together([source(true), long]);
      expect(kept.run.children[0]?.phase).to.equal('main');
    });

    it('send each other messages', async () => {
      const { outcome, run } = await together([
        `id: main
start: begin
on: { message: { ready: go_on } }
blocks:
  begin:
    run: { scenario: worker, mode: parallel, args: { parent: "\${scenario.run}" } }
    next: pause
  pause:
    wait: 1h
    next: end
  go_on:
    send: { to: "\${begin.run}", message: thanks, data: "\${event.data.data}" }
    exits: { next: result, gone: end }
  result:
    await_run: "\${begin.run}"
    exits: { next: give, timeout: end }
  give:
    return: "\${result.value}"
`,
        `id: worker
parameters: { parent: string }
start: pause
blocks:
  pause:
    wait: 3s
    next: tell
  tell:
    send: { to: "\${parent}", message: ready, data: 42 }
    next: thanks
  thanks:
    receive: { message: thanks, timeout: 5s }
    exits: { next: give, timeout: end }
  give:
    return: "\${thanks.data}"
`,
      ]);
      expect(outcome).to.deep.include({ status: 'completed', value: 42 });
      expect(run.trace.find(({ block }) => block === 'pause')).to.deep.include({
        exit: 'interrupted',
        interrupt: 'message ready',
      });
    });
  });

  describe('interrupts', () => {
    const source = (on: string) => `id: main
start: pick_up
on: ${on}
finally: note
blocks:
  pick_up:
    answer:
    next: long
  long:
    play: { sounds: welcome.wav, repeat: 100 }
    next: end
  taken:
    report: { fields: { kind: "\${event.kind}", name: "\${event.name}", state: "\${call.state}" } }
    next: after
  after:
    wait: 1s
    next: end
  note:
    report: finished
    next: end
`;
    const table = [
      ['a key', '{ dtmf: { 0: taken } }', [{ kind: 'press', digits: '0' }], 'dtmf', '0', 'connected', 1200],
      ['any key', '{ dtmf: taken }', [{ kind: 'press', digits: '7' }], 'dtmf', '7', 'connected', 1200],
      ['hold', '{ hold: taken }', [{ kind: 'hold', after: 5000 }], 'hold', '', 'connected', 6000],
      ['hang-up', '{ hangup: taken }', [{ kind: 'hang_up', after: 3000 }], 'hangup', '', 'ended', 4000],
      ['a timer', '{ after: { 10s: taken } }', [], 'after', '10s', 'connected', 11_000],
    ] as const;
    for (const [what, on, turns, kind, name, state, milliseconds] of table) {
      it(`continue the run at their target: ${what}`, async () => {
        const { outcome, steps } = await simulate(source(on), { turns });
        expect(steps).to.deep.equal([
          'pick_up -> next',
          'long -> interrupted',
          'taken -> next',
          'after -> next',
          'note -> next',
        ]);
        expect(outcome).to.deep.include({ result: { kind, name, state }, milliseconds });
      });
    }

    it('leave an unnamed key to the next listening block', async () => {
      const { steps } = await simulate(
        source('{ dtmf: { 0: taken } }').replace(
          '    next: end\n  taken',
          `    next: enter
  enter:
    collect: { max: 1 }
    exits: { next: end, timeout: end }
  taken`,
        ),
        { turns: [{ kind: 'press', digits: '5' }] },
      );
      expect(steps).to.include('enter -> next');
    });

    it('come by an event', async () => {
      const clock = new VirtualClock();
      const services = simulatedServices({ clock });
      const run = startRun(program(source('{ event: { order_ready: taken } }')), {
        call: new SimulatedCall(clock),
        clock,
        services,
        log: silentLog,
      });
      void clock.sleep(2000, new AbortController().signal).then(() =>
        services.events?.publish({
          domain: asDomainName('simulation'),
          class: 'scenarioevents',
          type: 'order_ready',
          data: {},
        }),
      );
      expect((await clock.run(run.finished)).result).to.deep.include({ kind: 'event', name: 'order_ready' });
    });

    it('that come together are all handled, their instant blocks included', async () => {
      const counting = `id: main
variables: { seen: "", count: 0 }
on: { message: { go: note } }
start: music
blocks:
  music: { hold_music: { duration: 5s }, next: tell }
  note: { set: { seen: "\${seen + string(event.data.data)}" }, next: more }
  more: { set: { count: "\${count + 1}" }, next: music }
  tell: { return: "\${seen + string(count)}" }
`;
      const { outcome, steps } = await simulate(
        counting.replace('start: music', 'start: up').replace('blocks:', 'blocks:\n  up: { answer: , next: music }'),
        {},
        {
          during: (run, clock) =>
            void clock.sleep(1000, new AbortController().signal).then(() => {
              for (const data of ['a', 'b', 'c']) run.send({ name: 'go', data, from: 'x' });
            }),
        },
      );
      expect(outcome.value, steps.join(' ')).to.equal('abc3');
    });

    it('do not continue a failed run', async () => {
      const failing = `id: main
on: { message: { go: bad, on: more } }
start: a
finally: f
blocks:
  a: { wait: 5s, next: end }
  bad: { fail: mine }
  more: { log: more, next: end }
  f: { log: over, next: end }
`;
      const { outcome, steps } = await simulate(
        failing,
        {},
        {
          during: (run, clock) =>
            void clock.sleep(1000, new AbortController().signal).then(() => {
              for (const name of ['go', 'on']) run.send({ name, data: '', from: 'x' });
            }),
        },
      );
      expect(steps).to.deep.equal(['a -> interrupted', 'bad -> error', 'f -> next']);
      expect(outcome.status).to.equal('failed');
    });

    it('are checked', () => {
      const found = problems(
        source('{ dtmf: { E: taken }, after: { soon: taken }, event: taken, hangup: nowhere, hld: taken }'),
      );
      expect(found).to.deep.equal([
        '3:15: "E" is not a key: 0-9, *, #, A-D',
        '3:36: "soon" is not a duration; write a number with ms, s, m or h, at most a week (168h)',
        '3:58: "event" needs the name of an event; write event: { NAME: taken }',
        '3:73: there is no block "nowhere"; there is: pick_up, long, taken, after, note, end',
        '3:82: there is no interrupt "on hld"; did you mean "hold"?',
        '12:3: the block "taken" is never reached; connect an exit to it or remove it',
        '15:3: the block "after" is never reached; connect an exit to it or remove it',
      ]);
    });
  });

  it('passes the call of a failed run to the fallback scenario', async () => {
    const broken = `id: main
start: a
fallback: spare
blocks:
  a:
    answer:
    next: b
  b:
    fail: oh_no
`;
    const spare = `id: spare
start: a
blocks:
  a:
    play: welcome.wav
    next: end
`;
    const { outcome, events, run } = await together([broken, spare]);
    expect(outcome).to.deep.include({ status: 'failed' });
    expect(events).to.deep.equal(['answer', 'play welcome.wav', 'hangup', 'ended by scenario: hangup']);
    expect(run.children[0]?.program.id).to.equal('spare');
    expect((await together([broken])).events).to.include('hangup');
  });

  it('reads the time by now although a block without results has this name', async () => {
    const { outcome } = await simulate(`id: timed
start: now
blocks:
  now: { answer: , next: tell }
  tell: { return: "\${string(now)}" }
`);
    expect(outcome).to.include({ status: 'completed', value: '1970-01-01T00:00:00.000Z' });
  });

  it('loops over a list, and starts anew', async () => {
    const { outcome } = await simulate(`id: l
variables: { text: "" }
start: twice
blocks:
  twice:
    loop: { times: 2 }
    exits: { each: letters, done: give }
  letters:
    loop: { over: [a, b, c] }
    exits: { each: add, done: twice }
  add:
    set: { text: "\${text + string(letters.item) + string(letters.index)}" }
    next: letters
  give:
    return: "\${text}"
`);
    expect(outcome.value).to.equal('a0b1c2a0b1c2');
  });

  it('branches by switch', async () => {
    const source = (value: string) => `id: s
start: a
variables: { v: { type: any, value: ${value} } }
blocks:
  a:
    switch: \${v}
    exits: { 1: one, yes: yes_please, else: other }
  one:
    return: one
  yes_please:
    return: yes_please
  other:
    return: other
`;
    const results = [];
    for (const value of ['1', '"1"', 'yes', 'no', 'null']) results.push((await simulate(source(value))).outcome.value);
    expect(results).to.deep.equal(['one', 'one', 'yes_please', 'other', 'other']);
  });
});
