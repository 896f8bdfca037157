import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { LazySandbox } from '../../runtime/cli/lazy-sandbox.ts';
import { classesFrom } from '../../runtime/cli/simulated-classes.ts';
import { selectEntities } from '../../runtime/component-registry/index.ts';
import { runTests } from '../../runtime/workbench/tests/test-command.ts';
import { readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import { formatProblem } from '../../runtime/language/problem.ts';
import { projectFolder } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ASK = `id: ask
variables: { tries: 0 }
start: pick_up
blocks:
  pick_up:
    answer:
    next: count
  count:
    set: { tries: "\${tries + 1}" }
    next: enter
  enter:
    collect: { prompt: "tone:%(100,0,440)", max: 2, timeout: 3s }
    exits: { next: transfer, timeout: count }
  transfer:
    refer: \${enter.digits}
    exits: { busy: count, no_answer: end, refused: end }
`;

describe('scenario tests', () => {
  const folder = temporaryFolder({ each: true });
  beforeEach(async () => {
    await writeFile(path.join(folder, 'ask.yaml'), ASK);
  });

  async function run(tests: string): Promise<{ code: number; lines: string[] }> {
    await writeFile(path.join(folder, 'ask.test.yaml'), tests);
    const lines: string[] = [];
    const code = await runTests([folder], components, (line) => lines.push(line.replaceAll(folder, '.')));
    return { code, lines: lines.map((line) => line.replace(/, [\d.]+s\)/, ')')) };
  }

  it('check the words in a recording, and name sounds like a scenario', async () => {
    await writeFile(
      path.join(folder, 'poll.yaml'),
      `id: poll
start: pick_up
blocks:
  pick_up:
    answer:
    next: ask
  ask:
    play: ["say:How was it?", "say[de]:Wie war es?"]
    next: comment
  comment:
    record: { max: 20s, silence: 3s }
    next: written
  written:
    transcribe: \${comment.recording}
    next: more
  more:
    record: { max: 20s, silence: 3s }
    next: both
  both:
    transcribe: \${comment.recording}
    next: written_more
  written_more:
    transcribe: \${more.recording}
    next: end
`,
    );
    const { code, lines } = await run(`
scenario: poll.yaml
tests:
  - name: two sentences
    steps: [{ says: it was nice }, { says: and quick }, silence, { says: more of it }]
    expect:
      prompts: ["say:How was it?", "say[de]:Wie war es?", "tone:%(300,0,1000)", "tone:%(300,0,1000)"]
      results: { written.text: it was nice and quick, both.text: it was nice and quick, written_more.text: more of it }
  - name: nothing
    steps: [silence]
    expect: { prompts: [How was it?, "Wie war es?", "tone:%(300,0,1000)", "tone:%(300,0,1000)"], results: { written.text: "" } }
`);
    expect([code, ...lines]).to.deep.equal([0, '2 passed, 0 failed (1 file)']);
  });

  it('show speech of the caller while no block listened', async () => {
    const { code, lines } = await run(`
tests:
  - name: too early
    steps: [{ says: hello, after: 1s }, hangs_up]
    expect: { status: ended, events: [said hello (nothing listened)] }
`);
    expect([code, ...lines]).to.deep.equal([0, '1 passed, 0 failed (1 file)']);
  });

  it('simulate silence, keys, and a busy phone', async () => {
    const { code, lines } = await run(`
tests:
  - name: busy, then answered
    phones: { "11": busy after 2s, "12": answers after 5s }
    steps: [silence, { presses: "11" }, { presses: "12" }]
    expect:
      status: completed
      path: [pick_up, count, enter, count, enter, transfer, count, enter, transfer]
      exits: { transfer: answered }
      events: [refer 11, refer 12]
      variables: { tries: 3 }
      results: { enter.digits: "12" }
      within: 15s
  - name: nobody answers
    phones: { "13": no answer }
    steps: [{ presses: "13" }]
    expect: { exits: { transfer: no_answer } }
  - name: the caller hangs up while it listens
    steps: [{ hangs_up: 2s }]
    expect: { status: ended, within: 2s }
`);
    expect({ code, lines }).to.deep.equal({ code: 0, lines: ['3 passed, 0 failed (1 file)'] });
  });

  it('have their own time in expressions and scripts, and need no caller', async () => {
    const source = `id: ask
parameters: { who: { type: string, default: nobody } }
variables: { tries: 7, hour: -1 }
start: which
blocks:
  which: { if: call.state == 'none', exits: { then: clock, else: end } }
  clock: { script: "return new Date().toISOString();", next: note }
  note: { set: { hour: "\${now.getHours('Europe/Berlin')}" }, next: line }
  line: { log: "\${who} at \${string(now)}", next: end }
`;
    await writeFile(path.join(folder, 'ask.yaml'), source);
    await writeFile(
      path.join(folder, 'ask.test.yaml'),
      `
tests:
  - name: in the morning
    from: none
    at: 2026-11-23T09:30+01:00
    expect:
      variables: { hour: 9, tries: 7 }
      results: { clock.value: "2026-11-23T08:30:00.000Z" }
      events: ["info: nobody at 2026-11-23T08:30:00.000Z"]
  - { name: at no time that is given, from: none, expect: { variables: { hour: 11 } } }
  - { name: by a call, expect: { path: [which] } }
`,
    );
    await using sandbox = new LazySandbox();
    const lines: string[] = [];
    const code = await runTests([folder], components, (line) => lines.push(line), {
      openSandbox: sandbox.open,
      show: true,
    });
    expect(lines.filter((line) => /^(passed|FAILED) /.test(line))).to.have.length(3);
    expect({ code, last: lines.at(-1)?.slice(0, 18) }).to.deep.equal({ code: 0, last: '3 passed, 0 failed' });
  });

  for (const [what, ring] of [
    ['a further call', '{ call: { to: "102" }, leg: agent, exits: { answered: end, refused: count } }'],
    ['a transfer', '{ refer: "102", exits: { answered: end, refused: count } }'],
  ] as const)
    it(`show no refusal when an interrupt cancels ${what} that rings`, async () => {
      await writeFile(
        path.join(folder, 'zero.yaml'),
        `id: zero
variables: { refusals: 0 }
start: pick_up
on: { dtmf: { 0: operator }, hangup: gone }
blocks:
  pick_up: { answer: , next: ring }
  ring: ${ring}
  count: { set: { refusals: "\${refusals + 1}" }, next: end }
  operator: { say: One moment, next: end }
  gone: { log: gone, next: end }
`,
      );
      await writeFile(
        path.join(folder, 'zero.test.yaml'),
        `tests:
  - name: a key
    phones: { "102": no answer }
    steps: [{ presses: "0", after: 3s }]
    expect: { path: [pick_up, ring, operator], exits: { ring: interrupted }, variables: { refusals: 0 } }
  - name: a hang-up
    phones: { "102": no answer }
    steps: [{ hangs_up: 3s }]
    expect: { path: [pick_up, ring, gone], exits: { ring: interrupted }, variables: { refusals: 0 } }
`,
      );
      const lines: string[] = [];
      expect(await runTests([path.join(folder, 'zero.yaml')], components, (line) => lines.push(line))).to.equal(
        0,
        lines.join('\n'),
      );
    });

  it('have phones that behave differently from call to call', async () => {
    await writeFile(
      path.join(folder, 'remind.yaml'),
      `id: remind
variables: { tries: 0 }
start: ring
blocks:
  ring:
    call: { to: "102", caller_id: "100", timeout: 20s }
    leg: other
    exits: { answered: tell, busy: later, no_answer: later, refused: end }
  later: { wait: 10m, next: count }
  count: { set: { tries: "\${tries + 1}" }, next: ring }
  tell:
    menu: { prompt: "say:Press 1", tries: 1 }
    leg: other
    exits: { 1: end, failed: end }
`,
    );
    await writeFile(
      path.join(folder, 'remind.test.yaml'),
      `tests:
  - name: busy, nobody there, then presses 1
    from: none
    phones: { "102": [busy, no answer, "answers after 5s, presses 1"] }
    expect: { status: completed, variables: { tries: 2 }, exits: { tell: "1" } }
  - name: busy twice, and declines from then on
    from: none
    phones: { "102": [486, busy, declines] }
    expect: { status: completed, variables: { tries: 2 }, exits: { ring: refused } }
`,
    );
    const lines: string[] = [];
    expect(await runTests([path.join(folder, 'remind.yaml')], components, (line) => lines.push(line))).to.equal(
      0,
      lines.join('\n'),
    );
    await writeFile(
      path.join(folder, 'remind.test.yaml'),
      `tests:
  - name: x
    phones: { "102": [busy, engaged] }
`,
    );
    lines.length = 0;
    await runTests([path.join(folder, 'remind.yaml')], components, (line) => lines.push(line));
    expect(lines[0]).to.contain('remind.test.yaml:3:29: "engaged" says not what the phone does; write answers');
  });

  it('pass the call to another scenario by serve', async () => {
    const served = `id: other
parameters: { n: string }
start: a
blocks:
  a: { answer: , next: b }
  b: { play: "say:\${n}", next: end }
`;
    await writeFile(path.join(folder, 'other.yaml'), served);
    const serving = `id: ask
start: a
blocks:
  a: { serve: { scenario: other, args: { n: one } }, next: b }
  b: { serve: none, exits: { next: end, error: end } }
`;
    await writeFile(path.join(folder, 'ask.yaml'), serving);
    const { code, lines } = await run(`
tests:
  - name: served
    expect:
      { status: completed, exits: { a: next, b: error }, prompts: [one], events: [answer, hangup], results: { a.status: completed } }
`);
    expect(code, lines.join('\n')).to.equal(0);
  });

  it('report expectations of unknown blocks and variables', async () => {
    const { lines } = await run(
      'tests: [{ name: a, steps: [hangs_up], expect: { exits: { entr: x }, variables: { trys: 1 }, results: { what.x: 1 } } }]',
    );
    expect(lines.filter((line) => line.includes('has no'))).to.deep.equal([
      '  the scenario has no block "entr"; did you mean "enter"?',
      '  the scenario has no block "what"; there is: pick_up, count, enter, transfer',
      '  the scenario has no variable "trys"; there is: tries',
    ]);
  });

  it('report unmet expectations, with the transcript', async () => {
    const { code, lines } = await run(`
tests:
  - name: wrong
    from: "105"
    steps:
      - hears: nothing.wav
    expect: { status: failed, exits: { enter: next }, variables: { tries: 9 }, prompts: [], events: [refer 12], within: 1s }
`);
    expect(code).to.equal(1);
    const failures = lines.filter((line) => /^ {2}\S/.test(line));
    expect(lines[0]).to.equal('FAILED ./ask.test.yaml:3: wrong');
    expect(failures[0]).to.match(/^ {2}the caller never heard nothing\.wav; it heard tone:/);
    expect(failures.slice(1).map((line) => line.slice(0, 30))).to.deep.equal([
      '  status: expected "failed", f',
      '  prompts: expected [], found ',
      '  "refer 12" did not happen: a',
      '  exit of enter: expected "nex',
      '  variable tries: expected 9, ',
      '  the run took 120000 ms, more',
    ]);
    expect(lines.at(-1)).to.equal('0 passed, 1 failed (1 file)');
  });

  it('report the missing argument', async () => {
    await writeFile(path.join(folder, 'ask.yaml'), ASK.replace('variables', 'parameters: { to: string }\nvariables'));
    const { code, lines } = await run('tests: [{ name: none }]');
    expect(code).to.equal(1);
    expect(lines.slice(0, 2)).to.deep.equal(['FAILED ./ask.test.yaml:1: none', '  parameter to: is required']);
  });

  it('fail for a scenario with mistakes, and for a missing one', async () => {
    await writeFile(path.join(folder, 'ask.yaml'), ASK.replace('answer:', 'anser:'));
    const broken = await run('tests: [{ name: a }]');
    expect(broken.code).to.equal(1);
    expect(broken.lines[0]).to.match(/^\.\/ask\.yaml:6:5: there is no component "anser"/);
    const missing = await run('scenario: other.yaml\ntests: [{ name: a }]');
    expect(missing.lines[0]).to.equal(
      './ask.test.yaml:1:1: there is no scenario other.yaml for these tests; write scenario: FILE.yaml at the top of the file',
    );
  });

  it('are found beside a named scenario', async () => {
    await writeFile(path.join(folder, 'ask.test.yaml'), 'tests: [{ name: a, steps: [hangs_up] }]');
    const lines: string[] = [];
    expect(await runTests([path.join(folder, 'ask.yaml')], components, (line) => lines.push(line))).to.equal(0);
    expect(lines.at(-1)).to.match(/^1 passed/);
    const none = path.join(folder, 'no.yaml');
    expect(await runTests([none], components, (line) => lines.push(line))).to.equal(1);
    expect(lines.at(-2)).to.equal(`${none}:1:1: the file cannot be read (no such file)`);
  });

  it('end with 2 without any test', async () => {
    const lines: string[] = [];
    expect(await runTests([folder], components, (line) => lines.push(line))).to.equal(2);
  });

  it('report every mistake of a test file', () => {
    const { problems } = readTestFile(
      `scenaro: a.yaml
tests:
  - steps: [hang_up, { presses: x }, { hears: a, says: b }, { presses: "1", after: soon }, { press: "1" }]
    phones: { "101": perhaps, "102": busy after 2s }
    expect: { status: done, exit: {}, path: a }
    http: { "GET https://a.b/c": [404, { jsn: { x: 1 } }, { json: { any: 1 } }], "GET https://a.b/d": gone }
`,
      't.yaml',
    );
    expect(problems.map(formatProblem)).to.deep.equal([
      't.yaml:1:1: a test file has no "scenaro"; did you mean "scenario"?',
      't.yaml:3:5: the test has no name; write name: what it shows',
      't.yaml:3:13: there is no step "hang_up"; did you mean "hangs_up"?',
      't.yaml:3:33: "x" are no keys; use 0-9 * # A-D, in quotes',
      't.yaml:3:38: a step is exactly one deed; there is: hears, presses, says, silence, hangs_up, holds, resumes, beeps',
      't.yaml:3:84: "soon" is no duration; write e.g. 5s',
      't.yaml:3:94: a step has no "press"; did you mean "presses"?',
      't.yaml:4:22: "perhaps" says not what the phone does; write answers, answers after 5s, busy, no answer, or a SIP status',
      't.yaml:5:23: there is no status "done"; there is: completed, ended, failed, stopped',
      't.yaml:5:29: expect has no "exit"; did you mean "exits"?',
      't.yaml:5:45: path must be a list',
      't.yaml:6:42: an answer has no "jsn"; did you mean "json"?',
      't.yaml:6:103: an answer is a status or a map; e.g. { json: { x: 1 } }',
    ]);
  });

  it('start with entities of the data model, and expect others', async () => {
    await writeFile(
      path.join(folder, 'box.yaml'),
      `id: box
start: find
blocks:
  find: { model_list: { class: box/messages, filter: { owner: "10%" }, order: [at] }, exits: { next: remove, empty: end } }
  remove: { model_write: { class: box/messages, id: "\${find.entities[0].id}", remove: true }, next: end }
`,
    );
    const test = (expected: string) =>
      `tests:
  - name: removes the oldest
    model: { box/messages: [{ id: a, owner: "102", at: 5 }, { id: b, owner: "101", at: 3 }, { id: c, owner: "2", at: 1 }] }
    expect: { status: completed, results: { find.count: 2 }, model: { box/messages: ${expected} } }
`;
    const lines: string[] = [];
    for (const expected of ['[{ id: a }, { owner: "2" }]', '[{ id: b }]']) {
      await writeFile(path.join(folder, 'box.test.yaml'), test(expected));
      await runTests([folder], components, (line) => lines.push(line), { select: selectEntities });
    }
    expect(lines[0]).to.match(/^1 passed, 0 failed/);
    expect(lines.slice(2, 5)).to.deep.equal([
      '  no entity of box/messages is like {"id":"b"}',
      '  an entity of box/messages is not expected: {"id":"a","owner":"102","at":5}',
      '  an entity of box/messages is not expected: {"id":"c","owner":"2","at":1}',
    ]);
  });

  it('let phones of further calls and of scenarios beside it speak and press', async () => {
    await writeFile(
      path.join(folder, 'ring.yaml'),
      `id: ring
start: up
blocks:
  up: { answer: , next: ring }
  ring: { call: { to: "102" }, leg: agent, exits: { answered: ask, refused: end } }
  ask: { recognise: { prompt: "say:Ready?", hints: ["yes, please"] }, leg: agent, exits: { heard: key, silence: end } }
  key: { collect: { max: 1 }, leg: agent, exits: { next: beside, timeout: end } }
  beside: { run: { scenario: other, mode: parallel }, next: wait }
  wait: { await_run: "\${beside.run}", exits: { next: end, timeout: end } }
`,
    );
    await writeFile(
      path.join(folder, 'other.yaml'),
      `id: other
on: { dtmf: { 9: nine } }
start: dial
blocks:
  dial: { call: { to: "103", caller_id: "101" }, exits: { answered: music, refused: end } }
  music: { hold_music: , next: end }
  nine: { recognise: { prompt: "say:Words?" }, exits: { heard: tell, silence: end } }
  tell: { return: "\${nine.text}" }
`,
    );
    const { code, lines } = await run(`
scenario: ring.yaml
tests:
  - name: both
    phones:
      "102": answers, says "yes, please", presses 7
      "103": answers, presses 9 after 2s, says good bye
    expect:
      status: completed
      results: { ask.text: "yes, please", key.digits: "7", wait.value: good bye }
`);
    expect([code, lines]).to.deep.equal([0, ['1 passed, 0 failed (1 file)']]);
  });

  describe('with the classes of the domain', () => {
    const CLASSES = [
      {
        classname: 'notes',
        storage_mode: 'category',
        properties: [
          { name: 'text', data_type: 'string' },
          { name: 'count', data_type: 'integer' },
        ],
      },
    ];

    it('have null in unset properties, and refuse unknown classes, properties and types as a node does', async () => {
      await writeFile(path.join(folder, 'classes.json'), JSON.stringify(CLASSES));
      await writeFile(
        path.join(folder, 'notes.yaml'),
        `id: notes
start: all
blocks:
  all: { model_list: { class: notes, filter: { text: one } }, exits: { next: seen, empty: end } }
  seen: { if: "all.entities[0].count == null", exits: { then: write, else: end } }
  write: { model_write: { class: notes, entity: { count: many } }, exits: { next: end, error: other } }
  other: { model_list: { class: note }, exits: { next: end, empty: end, error: where } }
  where: { model_list: { class: notes, filter: { colour: red } }, exits: { next: end, empty: end } }
`,
      );
      const tests = `
scenario: notes.yaml
tests:
  - name: as live
    model: { notes: [{ text: one }, { text: two }] }
    expect: { error: model_refused, path: [all, seen, write, other, where] }
`;
      await writeFile(path.join(folder, 'ask.test.yaml'), tests);
      const lines: string[] = [];
      const options = { classesFor: classesFrom(undefined) };
      expect(await runTests([folder], components, (line) => lines.push(line), options), lines.join('\n')).to.equal(0);
    });

    it('report unknown classes and wrong entities of a test file at their places', async () => {
      const file = path.join(folder, 'classes.json');
      await writeFile(file, JSON.stringify(CLASSES));
      const classes = await classesFrom(file)(folder);
      const text = `tests:
  - name: a
    model:
      note: []
      notes: [{ text: 3 }, { txt: x }]
    expect: { model: { notse: [] } }
`;
      expect(readTestFile(text, 't.yaml', classes).problems.map(formatProblem)).to.deep.equal([
        't.yaml:4:7: model_unknown_class: there is no class "note" in classes.json; did you mean "notes"?',
        't.yaml:5:15: model_refused: text must be a text',
        "t.yaml:5:28: model_refused: txt is not known; did you mean 'text'?",
        't.yaml:6:24: model_unknown_class: there is no class "notse" in classes.json; did you mean "notes"?',
      ]);
    });

    it('name what is wrong with a file of classes', async () => {
      const file = path.join(folder, 'classes.json');
      const reason = async (content: string): Promise<string> => {
        await writeFile(file, content);
        return classesFrom(file)(folder).then(
          () => 'none',
          (error: Error) => error.message,
        );
      };
      expect(await reason('{}')).to.equal('classes.json:  must be a list of classes');
      const broken = [{ classname: 'a', storage_mode: 'category', properties: [{ name: 'x', data_type: 'text' }] }];
      expect(await reason(JSON.stringify(broken))).to.match(
        /^classes\.json: a: properties\.0\.data_type must be one of/,
      );
    });
  });

  it('pass for the examples of the project', async () => {
    const lines: string[] = [];
    await using sandbox = new LazySandbox();
    const examples = path.join(projectFolder, 'scenarios');
    const code = await runTests([examples], components, (line) => lines.push(line), {
      openSandbox: sandbox.open,
      select: selectEntities,
    });
    expect({ code, lines: lines.slice(0, -1) }).to.deep.equal({ code: 0, lines: [] });
  });
});
