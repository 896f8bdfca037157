import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { type SimulateOptions, runSimulate } from '../../runtime/workbench/simulation/simulate-command.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { programFromFile, projectFolder, simulate } from '../support/scenarios.ts';

const file = (name: string) => path.join(projectFolder, 'scenarios', name);

async function transcript(name: string, options: SimulateOptions): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const code = await runSimulate(file(name), options, components, (line) => lines.push(line));
  return { code, lines };
}

describe('virtual clock', () => {
  it('wakes sleepers in the order of their time, without waiting', async () => {
    const clock = new VirtualClock(1000);
    const { signal } = new AbortController();
    const woken: string[] = [];
    const sleep = async (name: string, milliseconds: number) => {
      await clock.sleep(milliseconds, signal);
      woken.push(`${name} ${clock.now()}`);
    };
    await clock.run(Promise.all([sleep('late', 3_600_000), sleep('early', 10), sleep('middle', 20)]));
    expect(woken).to.deep.equal(['early 1010', 'middle 1020', 'late 3601000']);
  });

  it('drops an aborted sleeper', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1000, controller.signal);
    controller.abort(new Error('enough'));
    expect(await sleeping.catch((error: Error) => error.message)).to.equal('enough');
    expect(clock.now()).to.equal(0);
  });

  it('fails when nothing can ever happen', async () => {
    const error = await new VirtualClock().run(new Promise<never>(() => {})).catch((reason: Error) => reason.message);
    expect(error).to.equal('the simulation waits for something that never comes');
  });

  it('fails when the simulation never ends', async () => {
    const clock = new VirtualClock();
    const forEver = async (): Promise<void> => {
      for (;;) await clock.sleep(3_600_000, new AbortController().signal);
    };
    const error = await clock.run(forEver()).catch((reason: Error) => reason.message);
    expect(error).to.equal('the simulation has not ended after two days');
  });
});

describe('example scenarios', () => {
  const table = [
    ['first choice', ['1'], ['prompt welcome.wav menu.wav', 'pressed 1', 'play choice-1.wav', 'play goodbye.wav']],
    ['second choice', ['2'], ['prompt welcome.wav menu.wav', 'pressed 2', 'play choice-2.wav', 'play goodbye.wav']],
    [
      'a wrong key, silence, then a choice',
      ['7', '', '1'],
      [
        'prompt welcome.wav menu.wav',
        'pressed 7',
        'prompt invalid.wav menu.wav',
        'prompt menu.wav',
        'pressed 1',
        'play choice-1.wav',
        'play goodbye.wav',
      ],
    ],
    ['silence only', [], ['prompt welcome.wav menu.wav', 'prompt menu.wav', 'prompt menu.wav', 'play goodbye.wav']],
  ] as const;
  for (const [name, presses, events] of table) {
    it(`menu: ${name}`, async () => {
      const { events: happened, outcome } = await simulate(await programFromFile(file('examples/menu.yaml')), {
        presses,
      });
      expect(happened).to.deep.equal(['answer', ...events, 'hangup', 'ended by scenario: hangup']);
      expect(outcome.status).to.equal('completed');
    });
  }

  it('echo: until the caller hangs up', async () => {
    const { outcome, events } = await simulate(await programFromFile(file('examples/echo.yaml')), {
      hangsUpAfter: 90_000,
    });
    expect(events).to.deep.equal(['answer', 'echo', 'ended by opponent: hung up']);
    expect(outcome).to.deep.include({ status: 'ended', milliseconds: 90_000 });
  });
});

describe('digits of simulated callers', () => {
  const collecting = (settings: string, rest = '') =>
    `id: c
start: a
blocks:
  a: { answer: , next: b }
  b: { collect: ${settings}, exits: { next: c, timeout: c } }
${rest || '  c: { return: "${b.digits}${b.terminator}" }'}
`;

  it('digits one after another are one input while they come in time', async () => {
    const turns = [
      { kind: 'press', digits: '1' },
      { kind: 'press', digits: '2', after: 2000 },
      { kind: 'press', digits: '3', after: 4000 },
    ] as const;
    const { outcome } = await simulate(collecting('{ max: 4, digit_timeout: 3s }'), { turns, hangsUpAfter: 60_000 });
    expect(outcome).to.deep.include({ value: '12', milliseconds: 200 + 2000 + 3000 });
  });

  it('a terminator ends the input at once, with too few digits, too', async () => {
    const { outcome, steps } = await simulate(collecting('{ min: 3, max: 4 }'), { presses: ['1#'] });
    expect(outcome).to.deep.include({ value: '1#', milliseconds: 200 });
    expect(steps).to.include('b -> timeout');
  });

  it('digits typed ahead are not stop digits, and skip the next prompt', async () => {
    const rest =
      '  c: { play: { sounds: "silence:2s", stop_digits: "0123456789" }, exits: { next: d, digit: d } }\n' +
      '  d: { menu: { prompt: "silence:5s" }, exits: { 2: end, failed: end } }';
    const { events, steps } = await simulate(collecting('{ max: 1 }', rest), { presses: ['12'] });
    expect(steps).to.deep.equal(['a -> next', 'b -> next', 'c -> next', 'd -> 2']);
    expect(events).to.deep.equal([
      'answer',
      'pressed 1',
      'play silence:2000ms',
      'pressed 2',
      'hangup',
      'ended by scenario: hangup',
    ]);
  });
});

describe('blocks that take no time', () => {
  const counting = (end: number) => `
id: t
variables: { n: 0 }
start: pick
finally: last
blocks:
  pick: { answer: , next: more }
  more: { set: { n: "\${n + 1}" }, next: which }
  which: { if: "n < ${end}", exits: { then: more, else: end } }
  last: { report: { fields: { code: "\${error.code}" } }, next: end }`;

  it('take no time in a simulation either, however many they are', async () => {
    const { outcome } = await simulate(counting(300), { hangsUpAfter: 5000 });
    expect(outcome).to.deep.include({ status: 'completed', milliseconds: 0 });
  });

  it('end with step_limit in a simulation as in a call', async () => {
    const { outcome } = await simulate(counting(1_000_000), { hangsUpAfter: 5000 });
    expect(outcome).to.deep.include({ status: 'failed', milliseconds: 0 });
    expect(outcome.result).to.deep.include({ code: 'step_limit' });
  });
});

describe('simulate command', () => {
  it('prints what happened, block by block', async () => {
    const { code, lines } = await transcript('examples/menu.yaml', { press: '9,2' });
    expect(code).to.equal(0);
    expect(lines).to.deep.equal([
      '    0.0s  pick_up (answer) -> next',
      '    0.0s      answer',
      '    0.0s  choice (menu) -> 2',
      '    0.0s      prompt welcome.wav menu.wav',
      '    0.2s      pressed 9',
      '    0.2s      prompt invalid.wav menu.wav',
      '    0.4s      pressed 2',
      '    0.4s  second (play) -> next',
      '    0.4s      play choice-2.wav',
      '    1.4s  goodbye (play) -> next',
      '    1.4s      play goodbye.wav',
      '    2.4s  hang_up (hangup) -> next',
      '    2.4s      hangup',
      '    2.4s      ended by scenario: hangup',
      '    2.4s  completed',
    ]);
  });

  it('lets the caller hang up', async () => {
    const { code, lines } = await transcript('examples/echo.yaml', { hangUpAfter: '10s' });
    expect(code).to.equal(0);
    expect(lines.at(-1)).to.equal('   10.0s  ended: opponent: hung up');
  });

  it('starts a scenario with arguments', async () => {
    const { code, lines } = await transcript('service/invite.yaml', { args: { from: '101', to: '102' } });
    expect(code).to.equal(0);
    expect(lines).to.include('    0.0s      dial 101').and.to.include('    1.0s      refer 102');
  });

  it('names wrong options and missing arguments', async () => {
    expect(await transcript('examples/echo.yaml', { hangUpAfter: '10' })).to.deep.equal({
      code: 2,
      lines: ['"10" is no duration: write e.g. 10s'],
    });
    expect(await transcript('service/invite.yaml', { args: { from: '101' } })).to.deep.equal({
      code: 2,
      lines: ['parameter to: is required'],
    });
  });

  it('prints the mistakes of a file', async () => {
    const { code, lines } = await transcript('examples/prompts/README.md', {});
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
  });
});
