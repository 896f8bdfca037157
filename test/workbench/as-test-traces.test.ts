import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { authorCode } from '../../runtime/language/error-codes.ts';
import type { RunView } from '../../runtime/runs/run-view.ts';
import type { TraceEntry } from '../../runtime/runs/run/trace.ts';
import { runTests } from '../../runtime/workbench/tests/test-command.ts';
import { asTest } from '../../runtime/workbench/trace/as-test.ts';
import { ReplayError } from '../../runtime/workbench/trace/replayable.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A step of a trace, as nodes tell it: when it began and how long it took is that of a real call. */
type Told = Partial<TraceEntry> & Pick<TraceEntry, 'block' | 'component' | 'start' | 'milliseconds' | 'exit'>;

const SCENARIOS: Readonly<Record<string, string>> = {
  recorder: `start: a
blocks:
  a: { answer: , next: b }
  b: { record: { max: 4s, silence: 0s }, next: end }
`,
  asks: `start: a
on: { dtmf: { 5: z } }
blocks:
  a: { answer: , next: b }
  b: { play: "tone:%(9000,0,440)", next: c }
  c: { menu: { prompt: "tone:%(8000,0,450)", timeout: 1s, tries: 3 }, exits: { 1: end, failed: z } }
  z: { log: over, next: end }
`,
  serves: `start: a
blocks:
  a: { serve: asked, exits: { next: end, error: b } }
  b: { log: "\${error.code}", next: end }
`,
  asked: `start: up
blocks:
  up: { answer: , next: ask }
  ask: { collect: { max: 1, timeout: 3s }, exits: { next: bad, timeout: end } }
  bad: { fail: { code: pressed, message: a key } }
`,
  falls: `start: a
fallback: asked
blocks:
  a: { answer: , next: b }
  b: { fail: { code: broken, message: by hand } }
`,
  calls: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "*55other" }, leg: x, exits: { answered: c, refused: end } }
  c: { send_dtmf: "42", leg: x, next: d }
  d: { wait: 1s, next: end }
`,
  reports: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102", report_as: F }, leg: x, exits: { answered: c, busy: d, refused: end } }
  c: { wait: 1s, next: end }
  d: { log: busy, next: end }
`,
  takes: `start: a
blocks:
  a: { answer: , next: b }
  b: { take_over: { dialogid: d1d1, side: b }, leg: x, exits: { taken: c, refused: end } }
  c: { bridge: x, exits: { ended: end } }
`,
  long: `start: a
blocks:
  a: { answer: , next: b }
  b: { echo: , next: end }
`,
  asks_in_parallel: `start: a
blocks:
  a: { answer: , next: b }
  b: { run: { scenario: rings, mode: parallel }, next: c }
  c: { await_run: { run: "\${b.run}", timeout: 20s }, exits: { next: d, timeout: end } }
  d: { if: "c.value == '7'", exits: { then: e, else: end } }
  e: { log: seven, next: end }
`,
  rings: `start: a
blocks:
  a: { call: { to: "102", caller_id: "100" }, exits: { answered: b, refused: end } }
  b: { collect: { max: 1, timeout: 3s }, exits: { next: c, timeout: c } }
  c: { return: "\${b.digits}" }
`,
};

const ANSWER: Told = { block: 'a', component: 'answer', start: 0, milliseconds: 16, exit: 'next' };

function view(scenario: string, trace: readonly Told[], outcome: string, more: Partial<RunView> = {}): RunView {
  const [status = '', reason] = outcome.split('; ');
  const last = trace.at(-1);
  const entries = trace.map((entry, index) => ({ step: index + 1, branch: 'main' as const, ...entry }));
  return {
    id: `run-of-${scenario}`,
    scenario,
    version: 'v',
    file: `${scenario}.yaml`,
    from: '101',
    to: '500',
    callid: 'c',
    domain: asDomainName('demo.local'),
    trace: entries,
    outcome: {
      status: status as 'ended',
      ...(reason === undefined ? {} : { reason }),
      ...(entries.find(({ error }) => error) && status === 'failed'
        ? {
            error: { code: entries.findLast(({ error }) => error)?.error?.code ?? 'internal', message: '', block: 'b' },
          }
        : {}),
      result: {},
      steps: trace.length,
      start: 0,
      milliseconds: (last?.start ?? 0) + (last?.milliseconds ?? 0),
    },
    ...more,
  };
}

describe('a test made from a trace of a node', () => {
  const folder = temporaryFolder();

  before(async () => {
    const files = Object.entries(SCENARIOS);
    await Promise.all(files.map(([id, text]) => writeFile(path.join(folder, `${id}.yaml`), `id: ${id}\n${text}`)));
  });

  /** Makes the test and runs it beside the scenarios. */
  async function expectSame(run: RunView, served?: ReadonlyMap<string, RunView>): Promise<string> {
    const made = asTest(run, served);
    const file = path.join(folder, 'made.test.yaml');
    await writeFile(file, made);
    const lines: string[] = [];
    const code = await runTests([file], components, (line) => lines.push(line));
    expect(code, [made, ...lines].join('\n')).to.equal(0);
    return made;
  }

  for (const length of [3999, 4000, 100]) {
    it(`passes when the caller hung up ${length} ms into a recording of 4 s at most`, async () => {
      const result = { recording: 'recording:x.wav', reason: 'hangup', digit: '', milliseconds: length };
      const record = { block: 'b', component: 'record', start: 16, exit: 'interrupted', result };
      await expectSame(view('recorder', [ANSWER, { ...record, milliseconds: 350 + length }], 'ended; opponent: bye'));
    });
  }

  const play: Told = {
    block: 'b',
    component: 'play',
    subject: 'tone:%(9000,0,440)',
    start: 16,
    milliseconds: 9000,
    exit: 'next',
  };
  const menu: Told = {
    block: 'c',
    component: 'menu',
    subject: 'tone:%(8000,0,450)',
    start: 9016,
    milliseconds: 20_000,
    exit: 'interrupted',
  };
  const over: Told = { block: 'z', component: 'log', start: 30_000, milliseconds: 0, exit: 'next' };

  it('passes when the caller hung up in the third round of a menu with a long prompt', async () => {
    await expectSame(view('asks', [ANSWER, play, menu], 'ended; opponent: bye'));
  });

  it('passes when a key interrupted a long sound near its end', async () => {
    const cut = { ...play, milliseconds: 8990, exit: 'interrupted', interrupt: 'dtmf 5' };
    await expectSame(view('asks', [ANSWER, cut, over], 'completed'));
  });

  it('passes when the call was ended from outside: the caller of the test hangs up', async () => {
    const made = await expectSame(view('asks', [ANSWER, play, menu], 'ended; external: Request Terminated'));
    expect(made).to.include('hangs_up');
  });

  it('sets the patience of the caller for a long call', async () => {
    const echo = { block: 'b', component: 'echo', start: 16, milliseconds: 600_000, exit: 'interrupted' };
    const made = await expectSame(view('long', [ANSWER, echo], 'ended; opponent: bye'));
    expect(made).to.include('patience: 1201s');
  });

  const error = { code: authorCode('pressed'), message: 'a key' };
  const asked = view(
    'asked',
    [
      { block: 'up', component: 'answer', start: 5, milliseconds: 10, exit: 'next' },
      { block: 'ask', component: 'collect', start: 15, milliseconds: 900, exit: 'next', result: { digits: '4' } },
      { block: 'bad', component: 'fail', start: 915, milliseconds: 0, exit: 'error', error },
    ],
    'failed',
  );

  it('passes for a run that passed the call to another scenario, which read the keys', async () => {
    const serve = {
      block: 'a',
      component: 'serve',
      subject: 'asked',
      start: 0,
      milliseconds: 920,
      exit: 'error',
      error,
    };
    const serving = { ...serve, result: { run: asked.id, status: 'running' } };
    const note = { block: 'b', component: 'log', start: 920, milliseconds: 0, exit: 'next' };
    const made = await expectSame(view('serves', [serving, note], 'completed'), new Map([[asked.id, asked]]));
    expect(made).to.include('presses: "4"');
  });

  it('is refused when the trace of the other scenario was dropped', () => {
    const serve = {
      block: 'a',
      component: 'serve',
      start: 0,
      milliseconds: 920,
      exit: 'next',
      result: { run: 'gone' },
    };
    expect(() => asTest(view('serves', [serve], 'completed')))
      .to.throw(ReplayError)
      .that.includes({ code: 'not_replayable', block: 'a' });
  });

  it('lets the caller do what the fallback scenario asked for', async () => {
    const broken = { code: authorCode('broken'), message: 'by hand' };
    const fail = { block: 'b', component: 'fail', start: 16, milliseconds: 0, exit: 'error', error: broken };
    const made = await expectSame(view('falls', [ANSWER, fail], 'failed', { children: [asked] }));
    expect(made).to.include('presses: "4"');
  });

  const ok = (party: string, line = 'SIP/2.0 200 OK') => ({ at: 32, party, line });

  it('passes when a leg served by another scenario hung up while keys were sent', async () => {
    const call = { block: 'b', component: 'call', subject: '*55other', leg: 'x', start: 16, milliseconds: 16 };
    const gone = { code: 'call_ended', message: 'the call "x" was ended by the other party' } as const;
    const send = {
      block: 'c',
      component: 'send_dtmf',
      leg: 'x',
      start: 32,
      milliseconds: 570,
      exit: 'error',
      error: gone,
    };
    const calling = { ...call, exit: 'answered', answers: [ok('*55other')] };
    await expectSame(view('calls', [ANSWER, calling, send], 'failed'));
  });

  it('identifies the phone by the name in its milestones', async () => {
    const answers = [ok('F', 'SIP/2.0 180 Ringing'), ok('F', 'SIP/2.0 486 Busy Here')];
    const call = { block: 'b', component: 'call', subject: '102', leg: 'x', start: 16, milliseconds: 90, exit: 'busy' };
    const note = { block: 'd', component: 'log', start: 120, milliseconds: 0, exit: 'next' };
    await expectSame(view('reports', [ANSWER, { ...call, answers }, note], 'completed'));
  });

  it('passes when a taken over party hung up', async () => {
    const take = { block: 'b', component: 'take_over', subject: 'd1d1', leg: 'x', start: 16, milliseconds: 30 };
    const bridge = { block: 'c', component: 'bridge', subject: 'x', start: 46, milliseconds: 4000, exit: 'ended' };
    const taking = { ...take, exit: 'taken', answers: [ok('b')] };
    await expectSame(view('takes', [ANSWER, taking, bridge], 'completed'));
  });

  it('repeats the keys of a phone called in parallel by another scenario', async () => {
    const call = { block: 'a', component: 'call', subject: '102', start: 20, milliseconds: 12, exit: 'answered' };
    const rings = view(
      'rings',
      [
        { ...call, answers: [ok('102')] },
        { block: 'b', component: 'collect', start: 32, milliseconds: 900, exit: 'next', result: { digits: '7' } },
        { block: 'c', component: 'return', start: 932, milliseconds: 0, exit: 'returned' },
      ],
      'completed',
    );
    const run = { block: 'b', component: 'run', subject: 'rings', start: 16, milliseconds: 2, exit: 'next' };
    const trace: Told[] = [
      ANSWER,
      { ...run, runs: [rings.id], result: { run: rings.id, status: 'running' } },
      { block: 'c', component: 'await_run', start: 18, milliseconds: 915, exit: 'next', result: { value: '7' } },
      { block: 'd', component: 'if', start: 933, milliseconds: 0, exit: 'then' },
      { block: 'e', component: 'log', start: 933, milliseconds: 0, exit: 'next' },
    ];
    await expectSame(view('asks_in_parallel', trace, 'completed', { children: [rings] }));
  });

  const refused: readonly { what: string; entry: Told; outcome?: string; says: RegExp }[] = [
    {
      what: 'a message came from elsewhere',
      entry: { block: 'b', component: 'receive', start: 16, milliseconds: 5, exit: 'next' },
      says: /block b: the message came from an unrelated run/,
    },
    {
      what: 'an event came from outside',
      entry: { block: 'b', component: 'wait_event', start: 16, milliseconds: 5, exit: 'next' },
      says: /block b: the event came from outside/,
    },
    {
      what: 'the phone did not take what was sent to it',
      entry: { block: 'b', component: 'send_sip', start: 16, milliseconds: 5, exit: 'refused' },
      says: /block b: the phone did not take it/,
    },
    {
      what: 'the node lacked something',
      entry: {
        block: 'b',
        component: 'say',
        start: 16,
        milliseconds: 5,
        exit: 'error',
        error: { code: 'unavailable', message: 'no engine' },
      },
      says: /block b: the node lacked something that simulations have \(unavailable: no engine\)/,
    },
    {
      what: 'it was stopped',
      entry: { block: 'b', component: 'echo', start: 16, milliseconds: 5, exit: 'interrupted' },
      outcome: 'stopped; the node ends',
      says: /it was stopped from outside \(the node ends\)/,
    },
    {
      what: 'the beginning of its trace is gone',
      entry: { block: 'b', component: 'echo', start: 16, milliseconds: 5, exit: 'interrupted', step: 700 },
      says: /it took 700 steps/,
    },
  ];
  for (const { what, entry, outcome = 'completed', says } of refused) {
    it(`is refused when ${what}`, () => {
      const trace = entry.step === undefined ? [ANSWER, entry] : [entry];
      expect(() => asTest(view('long', trace, outcome))).to.throw(ReplayError, says);
    });
  }
});
