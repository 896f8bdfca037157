import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { RunOutcome } from '../../runtime/runs/run/outcome.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { isOperation } from '../../components/docs/page.ts';
import { components } from '../../runtime/component-registry/index.ts';
import type { Run } from '../../runtime/runs/run/run.ts';
import { methods } from '../../runtime/language/method.ts';
import type { RunView } from '../../runtime/runs/run-view.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { mismatches } from '../../runtime/workbench/tests/expectations.ts';
import { calledBy, simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import { type ScenarioTest, readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import type { Turn } from '../../runtime/workbench/simulation/turns.ts';
import { asTest } from '../../runtime/workbench/trace/as-test.ts';
import { scenarioSchema } from '../../runtime/workbench/schema/json-schema.ts';
import { mermaid } from '../../runtime/workbench/drawing/mermaid.ts';
import { moduleMermaid } from '../../runtime/workbench/drawing/module-drawing.ts';
import { traceText } from '../../runtime/workbench/trace/trace-text.ts';
import { typeDeclarations } from '../../runtime/workbench/schema/type-declarations.ts';
import { silentLog } from '../support/log.ts';
import { program, programFromFile, projectFolder, services, sourceOf } from '../support/scenarios.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

const examples = path.join(projectFolder, 'scenarios/examples');

const PHONES = { '102': { answers: [{ after: 0, status: 486 }] } };

async function view(turns: readonly Turn[], example = 'menu'): Promise<RunView> {
  const shown = await programFromFile(path.join(examples, `${example}.yaml`));
  const script = { turns, phones: PHONES, hangsUpAfter: 120_000 };
  const { run, outcome, call } = await runSimulation(shown, { script, components });
  const { id, trace, domain } = run;
  return {
    id,
    scenario: shown.id,
    version: shown.version,
    file: `${example}.yaml`,
    domain,
    callid: call.callid,
    trace,
    outcome,
  };
}

describe('scenario tools', () => {
  describe('JSON Schema', () => {
    const validate = new Ajv2020({ strict: false }).compile(scenarioSchema(components));

    it('accepts every example', async () => {
      const files = (await readdir(examples))
        .filter((name) => /^[^.]+\.yaml$/.test(name))
        .map((name) => path.join(examples, name));
      for (const component of components.values())
        if (!isOperation(component)) files.push(path.join(projectFolder, 'components', component.name, 'example.yaml'));
      for (const file of files) {
        expect(
          validate(parse(await readFile(file, 'utf8'))),
          `${file}: ${JSON.stringify(validate.errors?.[0])}`,
        ).to.equal(true);
      }
    });

    it('offers the names of blocks that it was given as targets, and allows others', () => {
      const { $defs } = scenarioSchema(components, ['ask', 'sales']) as {
        $defs: { target: { anyOf: object[] }; menu: { properties: { next: object } } };
      };
      expect($defs.target.anyOf[0]).to.deep.equal({ enum: ['ask', 'sales', 'end'] });
      expect($defs.menu.properties.next).to.include({ $ref: '#/$defs/target' });
      const given = new Ajv2020({ strict: false }).compile(scenarioSchema(components, ['ask']));
      for (const [next, isValid] of [
        ['ask', true],
        ['later', true],
        ['no name', false],
      ] as const)
        expect(given({ id: 'a', start: 'ask', blocks: { ask: { answer: null, next } } }), next).to.equal(isValid);
    });

    it('refuses unknown components, settings and exits', () => {
      const scenario = (block: object) => ({ id: 'a', start: 'b', blocks: { b: block } });
      expect(validate(scenario({ play: 'a.wav', next: 'end' }))).to.equal(true);
      expect(validate(scenario({ plai: 'a.wav', next: 'end' }))).to.equal(false);
      expect(validate(scenario({ play: { sounds: 'a.wav', loud: true }, next: 'end' }))).to.equal(false);
      expect(validate(scenario({ play: 'a.wav', exits: { nxt: 'end' } }))).to.equal(false);
      expect(validate(scenario({ play: { sounds: 'a.wav', repeat: '${n}' }, next: 'end' }))).to.equal(true);
      expect(validate(scenario({ refer: 102, exits: { refused: 'end' } }))).to.equal(true);
      const menu = (key: string) => scenario({ menu: { prompt: 'a.wav' }, exits: { [key]: 'end', failed: 'end' } });
      expect(['1', '#', '10', 'x'].filter((key) => validate(menu(key)))).to.deep.equal(['1', '#']);
      const on = (interrupts: object) => ({ ...scenario({ answer: null, next: 'end' }), on: interrupts });
      expect(validate(on({ dtmf: { 0: 'b', '*': 'b' }, after: { '5s': 'b' }, hangup: 'b' }))).to.equal(true);
      expect(
        [{ dtmf: { x: 'b' } }, { after: { 5: 'b' } }, { hangup: { a: 'b' } }].some((each) => validate(on(each))),
      ).to.equal(false);
    });
  });

  it('declare types for modules', () => {
    const text = typeDeclarations(components);
    expect(text).to.match(/interface Call \{[^]*? {2}collect\(settings: \{/);
    expect(text).to.include('declare function sleep(settings: {');
    expect(text).to.match(
      /declare const http: \{\n {2}\/\*\* Asks a server over HTTP\. \*\/\n {2}request<Data = any>\(/,
    );
    // But for a result of operations that is called so, and what data may leave out.
    expect(text).not.to.match(/(?<!'|Json \| )undefined/);
  });

  it('draw a scenario', async () => {
    const drawing = mermaid(
      program(
        `id: d
start: a
on: { after: { 5s: b } }
finally: b
blocks:
  a:
    if: "1 < 2"
    exits: { then: b, else: end }
  b:
    hangup:
`,
      ),
    );
    expect(drawing.split('\n')).to.deep.equal([
      'flowchart TD',
      '  start(["d"])',
      '  b1["a<br>if"]',
      '  b2["b<br>hangup"]',
      '  stop([end])',
      '  start --> b1',
      '  b1 -->|"then"| b2',
      '  b1 -->|"else"| stop',
      '  b2 --> stop',
      '  on1{{"on after 5s"}} -.-> b2',
      '  finally([finally]) --> b2',
      '',
    ]);
  });

  it('show times from the start of a long run with a truncated trace', async () => {
    const shown = await view([{ kind: 'press', digits: '1' }]);
    const lines = traceText({ ...shown, start: 0, trace: shown.trace.map((entry) => ({ ...entry, start: 90_000 })) });
    expect(lines).to.include('   90.0s  choice (menu menu.wav) -> 1');
  });

  it('draw a module', () => {
    const code = `async function main(call, args) {
  await call.answer();
  events.on('dtmf', () => report('key'));
  for (const number of args.numbers) {
    try {
      const { exit } = await call.refer(number);
      if (exit === 'answered') return;
      if (exit === 'busy') continue;
    } catch { break; }
    await music(call);
  }
  switch (args.kind) { case 'a': await call.say('a'); break; default: throw new Error('none'); }
}
async function music(call) { await call.holdMusic({ duration: '5s' }); }
export default main;`;
    const lines = moduleMermaid('m', code, new Set(methods(components).keys()))
      .split('\n')
      .map((line) => line.trim());
    expect(lines).to.include.members([
      'start(["m"])',
      'b1["call.answer<br>line 2"]',
      'start --> b1',
      'b2{{"on dtmf"}}',
      'b2 -.-> b3',
      'b4{"for (const number of args.numbers)"}',
      'b5["call.refer<br>line 6"]',
      'b6{"exit === #39;answered#39;"}'.replaceAll('#39;', "'"),
      'b7 -->|"yes"| b4',
      'b9[["music<br>line 10"]]',
      'b9 --> b4',
      `b10{"args.kind"}`,
      'b4 -->|"done"| b10',
      'b8 --> b10',
      `b10 -->|"'a'"| b11`,
      'b6 -->|"yes"| stop',
      'b10 -->|"throws"| stop',
      'b11 --> stop',
      'f_music[["music"]]',
    ]);
  });

  it('show a run', async () => {
    const lines = traceText(await view([{ kind: 'press', digits: '1' }]));
    expect(lines[0]).to.match(/^run [0-9a-f-]{36} {2}scenario menu {2}version [0-9a-f]{12} {2}call ivr@simulation$/);
    expect(lines)
      .to.include('    0.0s  choice (menu menu.wav) -> 1')
      .and.to.include('              {"digit":"1","tries":1}');
    expect(lines.at(-1)).to.equal('    2.2s  completed');
  });

  it('show the resources used by a module', async () => {
    const { outcome, ...shown } = await view([]);
    const times = { cpuMs: 12.3456, wallMs: 50, activations: 4 };
    const usage = { ...times, memoryBytes: 1.5 * 1_048_576, commands: 3, logLines: 2, logBytes: 9 };
    const lines = traceText({ ...shown, ...(outcome ? { outcome: { ...outcome, usage } } : {}) });
    expect(lines.at(-1)?.trim()).to.equal('script: 12.3 ms CPU, 1.5 MB, 3 functions, 2 log lines');
  });

  it('show the outcomes of runs started by a run', async () => {
    const child = program(`id: child
start: a
blocks:
  a: { fail: { code: sold_out, message: none left } }
`);
    const parent = program(
      `id: parent
start: a
blocks:
  a: { run: child, exits: { next: b, error: b } }
  b: { return: 7 }
`,
    );
    const library = sourceOf((id) => (id === 'child' ? child : parent));
    const runner = new ScenarioRunner(library, silentLog, services());
    const { id, finished } = runner.start(parent, { domain: asDomainName('example.com'), args: {} });
    await finished;
    const lines = traceText(runner.read(id) as RunView).map((line) => line.replace(/\d\.\ds/, '0.0s'));
    expect(lines).to.include('    0.0s  completed').and.to.include('              returned 7');
    expect(lines.at(-1)).to.equal('        0.0s  failed: block a: none left');
  });

  it('make a passing test from a run with requests to servers and operations', async () => {
    const asking = program(`id: asking
parameters: { customer: { type: string, default: "1" } }
start: a
blocks:
  a: { answer: , next: b }
  b: { http: "https://crm.example/c/\${customer}", exits: { next: c, refused: end, error: end } }
  c: { if: b.json.vip, exits: { then: d, else: end } }
  d: { loop: { times: 3 }, exits: { each: e, done: f } }
  e: { http: { url: "https://crm.example/calls", method: POST }, exits: { next: d, refused: d, error: d } }
  f: { operation.lookup: { from: "101" }, next: g }
  g: { if: size(f.ids) == 2, exits: { then: h, else: end } }
  h: { operation.refer: { dialogid: x, by: "101", referto: y }, exits: { next: end, failed: i, error: i } }
  i: { webhook: { url: "https://forbidden.example/", event: e }, exits: { next: end, error: j } }
  j: { webhook: { url: "https://allowed.example/", event: e }, exits: { next: k, error: end } }
  k: { http: "https://slow.example/", exits: { next: end, error: end } }
`);
    const run = (given: Pick<ScenarioTest, 'args' | 'turns' | 'http' | 'operations'>) => {
      const { args, turns, http, operations } = given;
      return runSimulation(asking, {
        script: { from: '101', turns, hangsUpAfter: 120_000 },
        args,
        http,
        operations,
        components,
      });
    };
    const args = { customer: '7' };
    const simulated = await run({
      args,
      turns: [{ kind: 'hang_up', after: 6000 }],
      http: {
        'GET https://crm.example/c/7': { json: { vip: true }, headers: { etag: 'x' } },
        'POST https://crm.example/calls': [{ status: 201, body: 'made' }, { status: 503 }, { error: 'http_timeout' }],
        'POST https://forbidden.example/': { error: 'http_forbidden' },
        'GET https://slow.example/': { status: 200, after: '1h' },
      },
      operations: { lookup: { ids: ['a', 'b'] }, refer: { error: 'not_applicable', after: '1500ms' } },
    });
    const { id, trace, domain } = simulated.run;
    const { outcome } = simulated;
    expect(trace.map(({ block }) => block).join('')).to.equal('abcdedededfghijk');
    const { version } = asking;
    const shown = { id, scenario: 'asking', version, file: 'asking.yaml', domain, callid: '', args, trace, outcome };
    const { tests, problems } = readTestFile(asTest(shown), 'made.test.yaml');
    expect(problems).to.deep.equal([]);
    const [test] = tests.tests;
    expect(mismatches(await run(test as ScenarioTest), test?.expect ?? {})).to.deep.equal([]);
  });

  it('make a passing test from a run whose party the platform called', async () => {
    const pressing = program(
      `id: t
parameters: { keys: string }
start: a
blocks:
  a: { answer: , next: b }
  b: { send_dtmf: "\${keys}", next: c }
  c: { collect: { max: 1 }, exits: { next: end, timeout: end } }
`,
    );
    const run = ({ turns, args, from, to }: Pick<ScenarioTest, 'turns' | 'args' | 'from' | 'to'>) =>
      runSimulation(pressing, { script: { turns, ...calledBy(from, to) }, args, components });
    const turns: readonly Turn[] = [{ kind: 'press', digits: '4' }];
    const args = { keys: '12' };
    const { run: done, outcome } = await run({ turns, args, from: '102', to: 'none' });
    const { id, trace, domain } = done;
    expect(trace.map(({ exit }) => exit)).to.deep.equal(['next', 'next', 'next']);
    const { version } = pressing;
    const shown = { id, scenario: 't', version, file: 't.yaml', domain, callid: '', args, trace, outcome, from: '102' };
    const [test] = readTestFile(asTest(shown), 'made.test.yaml').tests.tests;
    expect(test).to.deep.include({ from: '102', to: 'none' });
    expect(mismatches(await run(test as ScenarioTest), test?.expect ?? {})).to.deep.equal([]);
  });

  it('make a passing test from a run with other start values of variables', async () => {
    const text = `id: t
variables: { who: nobody }
start: a
blocks:
  a: { answer: , next: b }
`;
    const greeting = program(
      `${text}  b: { if: who == "Ann", exits: { then: end, else: c } }\n  c: { hangup: , next: end }\n`,
    );
    const run = ({ turns, variables }: Pick<ScenarioTest, 'turns' | 'variables'>) =>
      runSimulation(greeting, { script: { turns }, variables, components });
    const variables = { who: 'Ann' };
    const { run: done, outcome } = await run({ turns: [], variables });
    const { id, trace, domain } = done;
    expect(trace.map(({ exit }) => exit)).to.deep.equal(['next', 'then']);
    const { version } = greeting;
    const shown = {
      id,
      scenario: 't',
      version,
      file: 't.yaml',
      domain,
      callid: '',
      variables,
      trace,
      outcome,
      from: '1',
    };
    const { tests, problems } = readTestFile(asTest(shown), 'made.test.yaml');
    expect(problems).to.deep.equal([]);
    const [test] = tests.tests;
    expect(mismatches(await run(test as ScenarioTest), test?.expect ?? {})).to.deep.equal([]);
  });

  it('make a passing test from a run with keys during speech, a silent recording, and a text to a phone', async () => {
    const writing = program(`id: writing
start: a
finally: f
blocks:
  a: { answer: , next: b }
  b: { say: { text: Press one, stop_digits: "1" }, exits: { next: c, digit: end } }
  c: { collect: { max: 1 }, exits: { next: d, timeout: end } }
  d: { record: { silence: 3s }, next: e }
  e: { if: "d.milliseconds < 1000 && now.getHours() == 8", exits: { then: end, else: g } }
  g: { play: "silence:1s", next: end }
  f: { send_message: { to: "102", from: "101", text: Hello }, exits: { delivered: end, refused: end, unreachable: end } }
`);
    const run = ({ turns, phones, at }: Pick<ScenarioTest, 'turns' | 'phones' | 'at'>) =>
      runSimulation(writing, {
        script: { turns, phones, hangsUpAfter: 120_000 },
        components,
        ...(at === undefined ? {} : { at }),
      });
    const { run: done, outcome } = await run({
      turns: [{ kind: 'silence' }, { kind: 'press', digits: '1' }],
      phones: { '102': { answers: [{ after: 0, status: 480 }] } },
      at: Date.UTC(2026, 10, 23, 8, 30),
    });
    const { id, trace, domain } = done;
    expect(trace.map(({ block, exit }) => `${block} ${exit}`)).to.include.members(['e then', 'f unreachable']);
    const { version } = writing;
    const shown = { id, scenario: 'writing', version, file: 'writing.yaml', domain, callid: '', trace, outcome };
    const { tests, problems } = readTestFile(asTest({ ...shown, from: '101' }), 'made.test.yaml');
    expect(problems).to.deep.equal([]);
    const [test] = tests.tests;
    expect(mismatches(await run(test as ScenarioTest), test?.expect ?? {})).to.deep.equal([]);
    expect(asTest(shown)).to.contain('from: none');
  });

  it('make a passing test from a run whose caller is in a nested scenario', async () => {
    await using folder = await disposableFolder();
    await writeFile(
      path.join(folder.path, 'outer.yaml'),
      `id: outer
start: a
blocks:
  a: { answer: , next: b }
  b: { run: inner, next: c }
  c: { say: Good bye, next: end }
`,
    );
    await writeFile(
      path.join(folder.path, 'inner.yaml'),
      `id: inner
start: a
blocks:
  a: { model_read: { class: boxes, id: "1" }, exits: { next: b, missing: end } }
  b: { collect: { max: 1 }, exits: { next: c, timeout: end } }
  c: { say: Hello, next: end }
`,
    );
    const outer = await programFromFile(path.join(folder.path, 'outer.yaml'));
    const run = ({ turns, model }: Pick<ScenarioTest, 'turns' | 'model'>) =>
      runSimulation(outer, { script: { turns }, model, components });
    const turns: readonly Turn[] = [
      { kind: 'press', digits: '1' },
      { kind: 'hear', sound: 'Hello' },
      { kind: 'hang_up' },
    ];
    const simulated = await run({ turns, model: { boxes: [{ id: '1' }] } });
    const shown = (each: Run, outcome?: RunOutcome): RunView => ({
      id: each.id,
      scenario: each.program.id,
      version: each.program.version,
      file: `${each.program.id}.yaml`,
      domain: each.domain,
      callid: '',
      from: '1',
      trace: each.trace,
      ...(outcome === undefined ? {} : { outcome }),
      children: each.children.map((child) => shown(child)),
    });
    const [test] = readTestFile(asTest(shown(simulated.run, simulated.outcome)), 'made.test.yaml').tests.tests;
    expect(test?.model).to.deep.equal({ boxes: [{ id: '1' }] });
    const again = await run(test as ScenarioTest);
    expect(again.run.children[0]?.trace.map(({ block, exit }) => `${block} ${exit}`)).to.deep.equal([
      'a next',
      'b next',
      'c interrupted',
    ]);
    expect(mismatches(again, test?.expect ?? {})).to.deep.equal([]);
  });

  it('make a passing test from a run with a hang-up during a long sound', async () => {
    const long = program(
      `id: long
start: a
blocks:
  a: { answer: , next: b }
  b: { say: Hello, next: c }
  c: { say: Good bye, next: d }
  d: { say: The end, next: end }
`,
    );
    const { run, outcome } = await runSimulation(long, {
      script: {
        turns: [
          { kind: 'hear', sound: 'Good bye' },
          { kind: 'hang_up', after: 400 },
        ],
      },
      components,
    });
    const { id, domain, version } = { ...run, version: long.version };
    // In the call it took longer than a simulation lets it last.
    const trace = run.trace.map((entry) => (entry.block === 'c' ? { ...entry, milliseconds: 9000 } : entry));
    const shown = { id, scenario: 'long', version, file: 'long.yaml', domain, callid: '', trace, outcome, from: '1' };
    const [test] = readTestFile(asTest(shown), 'made.test.yaml').tests.tests;
    const again = await runSimulation(long, { script: { turns: test?.turns ?? [] }, components });
    expect(again.run.trace.map(({ block }) => block)).to.deep.equal(['a', 'b', 'c']);
    expect(mismatches(again, test?.expect ?? {})).to.deep.equal([]);
  });

  for (const [what, example, turns] of [
    ['that ends by itself', 'menu', [{ kind: 'press', digits: '2' }]],
    ['in which the caller hangs up', 'menu', [{ kind: 'hang_up', after: 1500 }]],
    ['with silence only', 'menu', []],
    ['whose result names a recording of its own', 'voicemail', [{ kind: 'say', text: 'Please call me back.' }]],
  ] as const) {
    it(`make a passing test from a run ${what}`, async () => {
      const { tests, problems } = readTestFile(asTest(await view(turns, example)), 'made.test.yaml');
      expect(problems).to.deep.equal([]);
      const [test] = tests.tests;
      expect(tests.scenario).to.equal(`${example}.yaml`);
      const again = await runSimulation(await programFromFile(path.join(examples, `${example}.yaml`)), {
        script: { turns: test?.turns ?? [], phones: test?.phones ?? {}, hangsUpAfter: 120_000 },
        components,
      });
      expect(mismatches(again, test?.expect ?? {})).to.deep.equal([]);
    });
  }
});
