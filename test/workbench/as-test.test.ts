import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import type { Program } from '../../runtime/language/program.ts';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { readPhone } from '../../runtime/workbench/simulation/phones.ts';
import type { Fixtures } from '../../runtime/workbench/simulation/simulated-model.ts';
import { type SimulationOptions, simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { type ScenarioTest, readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import type { Turn } from '../../runtime/workbench/simulation/turns.ts';
import { asTest } from '../../runtime/workbench/trace/as-test.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { program } from '../support/scenarios.ts';

const CALLS_BOB = `id: t
start: a
finally: f
blocks:
  a: { answer: , next: b }
  b: { play: "tone:%(1500,0,440)", next: c }
  c: { call: { to: "102", timeout: 20s }, leg: bob, exits: { answered: d, refused: end } }
  d: { menu: { prompt: "silence:300ms", tries: 1 }, leg: bob, exits: { 1: e, failed: end } }
  e: { bridge: bob, exits: { ended: g } }
  g: { collect: { max: 1, timeout: 3s }, exits: { next: end, timeout: end } }
  f: { log: bye, next: end }
`;
const HANGS_UP = `export default async function (call) {
  await call.answer();
  try {
    await call.collect({ max: 1, timeout: '10s' });
  } finally {
    log('over');
  }
}`;
const LISTENS = `export default async function (call) {
  await call.answer();
  const keys = [];
  const stop = events.on('dtmf', ({ digit }) => { keys.push(digit); if (digit === '#') music.cancel(); });
  const music = call.holdMusic();
  await music.catch(() => undefined);
  stop();
  const { exit } = await call.menu({ prompt: 'silence:300ms', exits: ['1', '2'], tries: 1 });
  return [keys, exit];
}`;

describe('a test made from a run repeats the run', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  it('when a number was first busy, then answered, and was called again', async () => {
    const source = `id: t
variables: { n: 0 }
start: c
blocks:
  c: { call: { to: "102", caller_id: "1" }, leg: bob, exits: { answered: d, busy: w, refused: end } }
  w: { wait: 1m, next: c }
  d: { menu: { prompt: "silence:300ms", tries: 1 }, leg: bob, exits: { 1: h, failed: end } }
  h: { hangup: , leg: bob, next: w2 }
  w2: { wait: 1m, next: again }
  again: { call: { to: "102", caller_id: "1" }, leg: bob, exits: { answered: end, busy: end, refused: end } }
`;
    const scenario = program(source);
    const run = (script: SimulationOptions['script']) => simulate(scenario, { script, components });
    const words = ['486', 'answers after 2000ms, presses 1', '603'];
    const phone = words.flatMap((each) => readPhone(each) ?? []);
    const first = await run({ direction: 'outgoing', phones: { '102': phone } });
    const { id, trace, domain } = first.run;
    const { version, file } = scenario;
    const shown = { id, scenario: 't', version, file, domain, callid: '', trace, outcome: first.outcome };
    const { tests } = readTestFile(asTest(shown), 'made.test.yaml').tests;
    const { phones, expect: expected } = tests[0] as ScenarioTest;
    expect(mismatches(await run({ direction: 'outgoing', phones }), expected)).to.deep.equal([]);
    expect(asTest(shown)).to.match(/"102":\n +- "486"\n +- answers after 2000ms, presses 1\n +- "603"/);
  });

  it('with the entities that were there before, and not with those that it made', async () => {
    const source = `id: t
start: add
blocks:
  add: { model_write: { class: crm/notes, entity: { text: new } }, next: change }
  change: { model_write: { class: crm/notes, id: old, entity: { text: changed } }, exits: { next: notes, missing: end } }
  notes: { model_list: { class: crm/notes }, exits: { next: each } }
  each: { loop: { over: "\${notes.entities}" }, exits: { each: note, done: drop } }
  note: { log: "\${each.item.text}", next: each }
  drop: { model_write: { class: crm/notes, id: unread, remove: true }, exits: { next: end, missing: end } }
`;
    const scenario = program(source);
    const run = (model: Fixtures) => simulate(scenario, { script: { direction: 'outgoing' }, components, model });
    const first = await run({ 'crm/notes': [{ id: 'old', text: 'as it was' }, { id: 'unread' }] });
    const { id, trace, domain } = first.run;
    const { version, file } = scenario;
    const shown = { id, scenario: 't', version, file, domain, callid: '', trace, outcome: first.outcome };
    const { tests } = readTestFile(asTest(shown), 'made.test.yaml').tests;
    const { model, expect: expected } = tests[0] as ScenarioTest;
    expect(Object.values(model ?? {}).flatMap((list) => list.map((entity) => entity['id']))).to.deep.equal([
      'old',
      'unread',
    ]);
    expect(mismatches(await run(model ?? {}), expected), asTest(shown)).to.deep.equal([]);
  });

  const cases: readonly { what: string; source: string; module?: true; turns: readonly Turn[]; bob?: string }[] = [
    {
      what: 'when the caller hangs up while talking to a further call, which has pressed a key',
      source: CALLS_BOB,
      turns: [{ kind: 'hang_up', after: 4000 }],
      bob: 'answers after 100ms, presses 1',
    },
    {
      what: 'when the further call hangs up, and the caller presses a key then',
      source: CALLS_BOB,
      turns: [{ kind: 'press', digits: '7' }],
      bob: 'answers after 100ms, presses 1, hangs up after 900ms',
    },
    {
      what: 'when the caller hangs up while a further call rings',
      source: CALLS_BOB,
      turns: [{ kind: 'hang_up', after: 4000 }],
      bob: 'no answer',
    },
    {
      what: 'when a block that would listen fails, as the call is not answered',
      source:
        'id: t\nstart: a\nblocks:\n  a: { record: { max: 5s }, exits: { next: end, error: b } }\n  b: { detect_machine: , exits: { human: end, machine: end } }\n',
      turns: [],
    },
    {
      what: 'when the caller of a module hangs up, which logs that',
      source: HANGS_UP,
      module: true,
      turns: [{ kind: 'hang_up', after: 3000 }],
    },
    {
      what: 'when the caller hangs up during silence',
      source: `id: t
start: a
blocks:
  a: { answer: , next: b }
  b: { play: "silence:1h", next: end }
`,
      turns: [{ kind: 'hang_up', after: 3000 }],
    },
    {
      what: 'when the caller hangs up while words are waited for',
      source: `id: t
start: a
blocks:
  a: { answer: , next: b }
  b: { recognise: { hints: ["yes"], timeout: 1m }, exits: { heard: end, silence: end } }
`,
      turns: [{ kind: 'hang_up', after: 3000 }],
    },
    {
      what: 'when a module is told of keys',
      source: LISTENS,
      module: true,
      turns: [
        { kind: 'press', digits: '4', after: 500 },
        { kind: 'press', digits: '#', after: 400 },
        { kind: 'press', digits: '2' },
      ],
    },
  ];
  for (const { what, source, module, turns, bob } of cases) {
    it(what, async () => {
      const scenario = module
        ? ((await checkModule(source, { file: 't.js', components })).program as Program)
        : program(source);
      const run = (script: SimulationOptions['script']) =>
        simulate(scenario, {
          script: { from: '101', hangsUpAfter: 120_000, ...script },
          components,
          openSandbox: async () => sandbox,
        });
      const phone = bob === undefined ? undefined : readPhone(bob);
      const first = await run({ turns, ...(phone ? { phones: { '102': phone } } : {}) });
      const { id, trace, domain } = first.run;
      const { version, file } = scenario;
      const { outcome } = first;
      const shown = { id, scenario: 't', version, file, domain, callid: '', from: '101', trace, outcome };
      const { tests, problems } = readTestFile(asTest(shown), 'made.test.yaml');
      expect(problems).to.deep.equal([]);
      const { turns: again, phones, expect: expected } = tests.tests[0] as ScenarioTest;
      expect(mismatches(await run({ turns: again, phones }), expected), asTest(shown)).to.deep.equal([]);
    });
  }
});
