import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import type { Log } from '../../runtime/runs/log.ts';
import { viewOf } from '../../runtime/runs/run-view.ts';
import type { Run } from '../../runtime/runs/run/run.ts';
import { Sensitive } from '../../runtime/runs/run/sensitive.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { openSandbox, type Sandbox } from '../../runtime/sandbox/index.ts';
import { expectReplayable, ReplayError } from '../../runtime/workbench/trace/replayable.ts';
import { simulate as simulation } from '../../runtime/workbench/simulation/simulation.ts';
import { simulationView } from '../../runtime/workbench/simulation/simulation-view.ts';
import { transcript } from '../../runtime/workbench/simulation/transcript.ts';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { silentLog } from '../support/log.ts';
import { problems, program, services, simulate } from '../support/scenarios.ts';

const PIN = '72941';

const BANK = `id: bank
parameters: { greeting: { type: string, default: Welcome } }
variables: { pin: "", first: "", length: 0, matches: false, later: "" }
start: pick_up
finally: over
blocks:
  pick_up: { answer: , next: ask }
  ask: { collect: { max: 5, sensitive: true }, exits: { next: keep, timeout: end } }
  keep:
    set:
      pin: \${ask.digits}
      first: \${ask.digits.substring(0, 4)}
      length: \${size(ask.digits)}
      matches: \${ask.digits == "${PIN}"}
    next: tell
  tell: { log: "the PIN is \${pin}, it begins with \${first}", next: repeat }
  repeat: { say: "You pressed \${pin}.", next: fetch }
  fetch: { http: { method: POST, url: "https://bank.example/\${ask.digits}", body: { pin: "\${pin}" } }, exits: { next: way, refused: end } }
  way: { switch: "\${first}", exits: { "7294": reuse, else: end } }
  reuse: { set: { pin: none, later: plain }, next: hand }
  hand: { report: { fields: { pin: "\${ask.digits}" } }, next: back }
  back: { return: "got \${ask.digits}" }
  over: { log: "bye \${ask.digits}", next: end }
`;

const MODULE = `export default async function (call) {
  await call.answer();
  const { digits } = await call.collect({ max: 5, sensitive: true });
  log('the PIN is ' + digits);
  await call.say('You pressed ' + digits);
  throw new ScenarioError('wrong', 'the PIN ' + digits + ' is wrong');
}`;

/** A log that keeps all it is given. */
function wholeLog(): Log & { readonly text: () => string } {
  const lines: string[] = [];
  const keep = (fields: object, message: string): void => {
    const { err, ...rest } = fields as { err?: Error };
    lines.push(JSON.stringify([message, rest, err?.message, err?.stack]));
  };
  return { debug: keep, info: keep, warn: keep, error: keep, text: () => lines.join('\n') };
}

describe('sensitive answers', () => {
  it('are with the scenario alone: not in its trace, its views and the log', async () => {
    const log = wholeLog();
    const { run, outcome } = await simulate(BANK, { presses: [PIN] }, { log });
    expect(outcome.error?.message).to.include('https://bank.example');
    const view = JSON.stringify(viewOf(run, { callid: 'x', args: { greeting: PIN } }));
    expect(log.text()).to.include('the PIN is ****, it begins with ****').and.not.match(/729/);
    expect(view).to.include('"digits":"****"').and.include('You pressed ****.').and.not.match(/729/);
    expect(run.trace.find(({ block }) => block === 'keep')?.variables).to.deep.equal({
      pin: '****',
      first: '****',
      length: '****',
      matches: true,
    });
    // The scenario itself has them.
    expect(outcome.variables).to.include({ pin: PIN, first: '7294' });
  });

  it('are not in simulations, and tests may give and expect them', async () => {
    const answered = await simulation(program(BANK), {
      components,
      script: { presses: [PIN] },
      http: { [`POST https://bank.example/${PIN}`]: { text: `PIN ${PIN} is right` } },
    });
    expect(answered.outcome).to.include({ status: 'completed', value: `got ${PIN}` });
    const shown = [...transcript(answered), JSON.stringify(simulationView(answered))].join('\n');
    expect(shown).to.include('pressed ****').and.include('got ****').and.not.match(/729/);
    const { trace } = answered.run;
    expect(trace.find(({ block }) => block === 'way')?.exit).to.equal('****');
    expect(trace.find(({ block }) => block === 'reuse')?.variables).to.deep.equal({ pin: 'none', later: 'plain' });
    const results = { 'ask.digits': PIN };
    expect(mismatches(answered, { results, prompts: [`You pressed ${PIN}.`], value: `got ${PIN}` })).to.deep.equal([]);
    expect(mismatches(answered, { results: { 'ask.digits': '11111' }, result: { pin: PIN } })).to.deep.equal([
      'result ask.digits: expected another sensitive value than the one found',
    ]);
    expect(() => expectReplayable(viewOf(answered.run, { callid: 'x' }), false)).to.throw(ReplayError, 'block ask');
  });

  it('stay sensitive in scenarios that get them as arguments or messages, and in the one that gets them back', async () => {
    const parent = program(`id: parent
start: pick_up
blocks:
  pick_up: { answer: , next: ask }
  ask: { run: { scenario: child }, next: use }
  use: { log: "it is \${ask.value}", next: end }
`);
    const child = program(`id: child
start: ask
blocks:
  ask: { recognise: { sensitive: true }, exits: { heard: back, silence: end } }
  back: { return: "\${ask.text}" }
`);
    const { outcome, run } = await simulate(
      parent,
      { turns: [{ kind: 'say', text: 'my "word"' }] },
      {
        services: services({ scenarios: async () => child }),
      },
    );
    expect(outcome.status).to.equal('completed');
    const view = JSON.stringify(viewOf(run, { callid: 'x' }));
    expect(view).to.include('it is ****').and.not.include('word');
    const other = new Sensitive();
    other.learn(run.sensitive, { said: 'hear: my "word"' });
    expect(other.text('my "word" counts')).to.equal('**** counts');
  });

  it('stay sensitive in a scenario that is served with them', async () => {
    const giver = `id: giver
start: pick_up
blocks:
  pick_up: { answer: , next: ask }
  ask: { collect: { max: 5, sensitive: true }, exits: { next: give, timeout: end } }
  give: { serve: { scenario: taker, args: { pin: "\${ask.digits}" } }, next: end }
`;
    const taker = program(`id: taker
parameters: { pin: string }
start: tell
blocks:
  tell: { log: "got \${pin}", next: end }
`);
    const served: Run[] = [];
    const own = services();
    await simulate(
      giver,
      { presses: [PIN] },
      {
        services: {
          ...own,
          serve: async (_code, call, start) => {
            served.push(startRun(taker, { ...start, call, log: silentLog, services: own }));
            return served[0];
          },
        },
      },
    );
    const [run] = served;
    expect((await run?.finished)?.status).to.equal('completed');
    const view = run && viewOf(run, { callid: 'x', args: { pin: PIN } });
    expect(view).to.deep.include({ args: { pin: '****' } });
    expect(view?.trace[0]?.log).to.deep.equal(['info: got ****']);
  });

  it('of few digits are masked where they stand alone', () => {
    const secret = new Sensitive();
    secret.add('12');
    expect(secret.text('PIN 12, 1234 and x12')).to.equal('PIN ****, 1234 and x12');
    expect(secret.value({ a: 12, b: [' 12 '], c: 120 })).to.deep.equal({ a: '****', b: [' **** '], c: 120 });
    secret.add('4*1#');
    expect(secret.text('dial 4*1# or 4%2A1%23 or 4*1%23x')).to.equal('dial **** or 4%2A1%23 or ****x');
  });

  it('are a setting of collect, recognise and transcribe', () => {
    const asking = (block: string): string[] =>
      problems(`id: t\nstart: a\nblocks:\n  a: { answer: , next: b }\n  b: ${block}\n`);
    expect(asking('{ collect: { max: 4, sensitive: 4 }, exits: { next: end, timeout: end } }').join()).to.include(
      'sensitive',
    );
    expect(
      asking('{ menu: { prompt: "silence:1s", sensitive: true }, exits: { 1: end, failed: end } }').join(),
    ).to.match(/menu.*"sensitive"/);
    const queued = '{ transcribe: { recording: "a.wav", queue: true, idconn: x, sensitive: true }, next: end }';
    expect(asking(queued).join()).to.include('into the archive');
  });
});

describe('sensitive answers in modules', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  it('are masked in what the module logs, says and fails with', async () => {
    const { program: module } = await checkModule(MODULE, {
      file: 'pin.js',
      components,
      compile: sandbox.compile.bind(sandbox),
    });
    expect(module).to.not.equal(undefined);
    if (module === undefined) return;
    const done = await simulation(module, {
      components,
      script: { presses: [PIN] },
      openSandbox: async () => sandbox,
    });
    expect(done.outcome.error).to.deep.include({ code: 'wrong', message: `the PIN ${PIN} is wrong` });
    const shown = [...transcript(done), JSON.stringify(simulationView(done))].join('\n');
    expect(shown).to.include('the PIN **** is wrong').and.include('You pressed ****').and.not.include(PIN);
  });
});
