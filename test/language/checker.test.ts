import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { check, problems, program, projectFolder } from '../support/scenarios.ts';

/** A scenario around some blocks; the first one is line 5. */
function scenario(blocks: string, head = ''): string {
  const indented = blocks.replaceAll(/^/gm, '  ');
  return `id: test
start: first
${head}blocks:
${indented}
`;
}

describe('scenario checker', () => {
  it('accepts a scenario without mistakes', () => {
    const { id, start, blocks, parameters, variables } = program(`
id: menu
name: A menu
parameters:
  to: string
  n: { type: integer, default: 3, values: [1, 2, 3] }
  copy: { type: string, default: "\${to}" }
variables:
  tries: 0
  digits: { type: string }
start: pick_up
finally: note
blocks:
  pick_up:
    answer:
    next: ask
  ask:
    menu: { prompt: menu.wav, timeout: 5s }
    exits: { 1: end, "*": ask, failed: retry, error: end }
  retry:
    set:
      tries: \${tries + 1}
      digits: \${ask.digit}
    next: again
  again:
    if: tries < n
    exits: { then: ask, else: end }
  note:
    report: finished
`);
    expect({ id, start, blocks: [...blocks.keys()] }).to.deep.equal({
      id: 'menu',
      start: 'pick_up',
      blocks: ['pick_up', 'ask', 'retry', 'again', 'note'],
    });
    expect(parameters.map(({ name, type }) => `${name}: ${type}`)).to.deep.equal([
      'to: string',
      'n: integer',
      'copy: string',
    ]);
    expect(variables).to.deep.equal([
      { name: 'tries', type: 'integer', initial: { kind: 'constant', value: 0 } },
      { name: 'digits', type: 'string', initial: { kind: 'constant', value: '' } },
    ]);
    expect([...(blocks.get('note')?.exits ?? [])]).to.deep.equal([['next', 'end']]);
  });

  it('accepts the scenario of the language guide', async () => {
    const guide = await readFile(path.join(projectFolder, 'scenarios', 'README.md'), 'utf8');
    program(/```yaml\n([^]*?)```/.exec(guide)?.[1] ?? '');
  });

  describe('finds', () => {
    const table: readonly { readonly what: string; readonly source: string; readonly found: readonly string[] }[] = [
      {
        what: 'an unknown component',
        source: scenario('first:\n  anser:\n  next: end'),
        found: ['5:5: there is no component "anser"; did you mean "answer"?'],
      },
      {
        what: 'an unknown setting',
        source: scenario(`first:
  collect: { max: 1, timout: 5s }
  exits: { next: end, timeout: end }`),
        found: ['5:24: "collect" has no setting "timout"; did you mean "timeout"?'],
      },
      {
        what: 'a missing setting',
        source: scenario('first:\n  collect:\n  exits: { next: end, timeout: end }'),
        found: ['5:5: "collect" lacks the setting "max"; e.g. max: 4'],
      },
      {
        what: 'an unknown exit',
        source: scenario('first:\n  play: welcome.wav\n  exits: { next: end, digits: end }'),
        found: ['6:25: "play" has no exit "digits"; there is: next, error'],
      },
      {
        what: 'an exit to a block that is not there',
        source: scenario(`first:
  answer:
  next: secnd
second:
  hangup:`),
        found: ['6:11: there is no block "secnd"; did you mean "second"?'],
      },
      {
        what: 'a start and a finally that are not there',
        source: `id: test
start: frist
finally: lst
blocks:
  first:
    hangup:
`,
        found: [
          '2:8: there is no block "frist"; did you mean "first"?',
          '3:10: there is no block "lst"; there is: first',
        ],
      },
      {
        what: 'a block that is never reached',
        source: scenario(`first:
  hangup:
other:
  hangup:`),
        found: ['6:3: the block "other" is never reached; connect an exit to it or remove it'],
      },
      {
        what: 'settings of the wrong type',
        source: scenario(
          `first:
  collect: { max: many, min: 99, timeout: 5, terminators: "x" }
  exits: { next: end, timeout: end }`,
        ),
        found: [
          '5:21: "max" must be a whole number from 1 to 64, not "many"',
          '5:32: "min" must be a whole number from 0 to 64, not 99',
          '5:45: "timeout" is no duration; write 5s for seconds or 5ms for milliseconds',
          '5:61: "terminators" must be a text like #, not "x"',
        ],
      },
      {
        what: 'a value that is none of the allowed ones',
        source: scenario(
          `first:
  call: { to: 101, caller_id: 100, mode: asnc }
  exits: { next: end, answered: end, refused: end }`,
        ),
        found: ['5:44: "mode" must be one of async, provisional, final, finished, not "asnc"; did you mean "async"?'],
      },
      {
        what: 'a loop without a wait that has a way out',
        source: scenario(
          `first:
  set: { n: "\${n + 1}" }
  next: again
again:
  if: n < 9
  exits: { then: first, else: end }`,
          'variables: { n: 0 }\n',
        ).replace('blocks:', 'blocks:'),
        found: ['5:3: warning: these blocks loop without a wait: first, again; count with loop, or add a wait'],
      },
      {
        what: 'a loop without a wait that never ends',
        source: scenario('first:\n  report: again\n  next: first'),
        found: ['4:3: the block "first" loops without a wait for ever; add a wait, or change an exit'],
      },
      {
        what: 'a variable that may be read before it is set',
        source: scenario(
          `first:
  if: call.number == "1"
  exits: { then: give, else: tell }
give:
  set: { who: me }
  next: tell
tell:
  log: "\${who}"
  next: end`,
          'variables: { who: { type: string } }\n',
        ),
        found: ['12:10: warning: the variable "who" may be read here before it is set; give it a first value'],
      },
      {
        what: 'nothing where a script may set the variable',
        source: scenario(
          `first:
  script: "vars.who = 1;"
  next: second
second:
  script: "// who\\nreturn vars;"
  next: tell
tell:
  log: "\${who} \${whose}"
  next: end`,
          'variables: { who: { type: string }, whose: { type: string } }\n',
        ),
        found: [],
      },
      {
        what: 'a variable that a script beside does not set',
        source: scenario(
          `first:
  script: "vars.who = 1;"
  next: tell
tell:
  log: "\${whose}"
  next: end`,
          'variables: { who: { type: string }, whose: { type: string } }\n',
        ),
        found: ['9:10: warning: the variable "whose" may be read here before it is set; give it a first value'],
      },
      {
        what: 'what a component alone can see',
        source: scenario(
          `first:
  collect: { min: 3, max: 2 }
  exits: { next: second, timeout: second }
second:
  menu: menu.wav
  exits: { failed: end }`,
        ),
        found: [
          '5:5: "min" is more than "max"',
          '8:11: "menu" must be settings: intro, prompt, invalid, silence, timeout, tries',
        ],
      },
      {
        what: 'a prompt that is not there',
        source: scenario(`first:
  play: [welcom.wav, ../../README.md, /etc/passwd, "silence:1"]
  next: end`),
        found: [
          '5:12: there is no prompt "welcom.wav"; did you mean "welcome.wav"?',
          '5:24: "../../README.md" is outside the prompts folder; name a file below it',
          '5:41: "/etc/passwd" is outside the prompts folder; name a file below it',
          '5:54: "silence:1" holds no duration; write silence:500ms',
        ],
      },
      {
        what: 'mistakes in expressions, at the very character',
        source: scenario(
          `first:
  if: tries + 1
  exits: { then: second, else: end }
second:
  wait: \${tres}s
  next: end`,
          'variables: { tries: 0 }\n',
        ),
        found: [
          '6:9: "if" must be true or false, but this is of type integer; compare it, e.g. with ==',
          '9:13: unknown name "tres"; did you mean "tries"?',
        ],
      },
      {
        what: 'expressions of the wrong type',
        source: scenario(
          `first:
  wait: \${tries}
  next: second
second:
  play:
    sounds: welcome.wav
    repeat: \${name}
  next: end`,
          'variables: { tries: 0, name: a }\n',
        ),
        found: [
          '6:11: "wait" must be a text like 5s, but this is of type integer; add the unit, e.g. ${seconds}s',
          '11:15: "repeat" must be a whole number from 1 to 1000, but this is of type string; convert with ${int(...)}',
        ],
      },
      {
        what: 'assignments to unknown variables and of wrong types',
        source: scenario(
          `first:
  set:
    tires: 1
    tries: \${name}
    name: 5
  next: end`,
          'variables: { tries: 0, name: a }\n',
        ),
        found: [
          '7:7: there is no variable "tires"; did you mean "tries"?',
          '8:14: the variable "tries" is of type integer, but this is of type string; convert with ${int(...)}',
          '9:13: the variable "name" is of type string, but this is of type integer; put it in quotes',
        ],
      },
      {
        what: 'a result that is read before its block can have run',
        source: scenario(
          `first:
  if: ask.digits == "1"
  exits: { then: ask, else: end }
ask:
  collect: { max: 1 }
  exits: { next: end, timeout: end }`,
        ),
        found: ['5:9: "ask" is read before the block "ask" has run'],
      },
      {
        what: 'a part of a result that is read when the call is over, perhaps before its block has run',
        source: scenario(
          `first:
  wait: 1m
  next: ask
ask:
  http: { url: "https://a.b/" }
  next: end
tell:
  log: "\${ask.json.name} \${ask.status} \${has(ask.json.id) ? ask.json.id : ''}"
  next: end`,
          'finally: tell\n',
        ),
        found: [
          '12:10: warning: the call may be over before the block "ask" has run, and this fails then; check first: ${has(ask.json.name) ? ... : \'\'}',
        ],
      },
      {
        what: 'nothing where the scenario asks before by which way it went',
        source: scenario(
          `first:
  wait: 1m
  next: ask
ask:
  http: { url: "https://a.b/" }
  next: end
was_there:
  if: ask.status == 200
  exits: { then: tell, else: end }
tell:
  log: "\${ask.json.name}"
  next: end`,
          'finally: was_there\n',
        ),
        found: [],
      },
      {
        what: 'a field a result does not have',
        source: scenario(
          `first:
  collect: { max: 1 }
  exits: { next: then_, timeout: end }
then_:
  if: first.digit == "1"
  exits: { then: end, else: end }`,
        ),
        found: ['8:15: there is no field "digit"; did you mean "digits"?'],
      },
      {
        what: 'names that cannot be used',
        source: scenario(
          'first:\n  hangup:',
          'parameters: { a-b: string, call: string, x: string }\nvariables: { x: 1, in: 2 }\n',
        ),
        found: [
          '3:15: "a-b" cannot be the name of a parameter: letters, digits and _ only, first a letter; write a_b',
          '3:28: "call" is already the name of a part of the language; choose another name',
          '4:14: "x" is already the name of a parameter; choose another name',
          '4:20: "in" cannot be the name of a variable: the word is reserved; write in_1 or another name',
        ],
      },
      {
        what: 'parameters with a wrong type or default',
        source: scenario(
          'first:\n  hangup:',
          `parameters:
  a: int
  b: { type: integer, default: x }
  c: { default: 1 }
  d: { type: string, values: [on, off], default: onn }
  e: { type: string, defalt: x }
`,
        ),
        found: [
          '4:6: parameter "a" has the unknown type "int"; did you mean "integer"?',
          '5:32: the default of "b" is no integer',
          '6:3: parameter "c" has no type; there is: string, integer, number, boolean, list, object, any',
          '7:50: the default of "d" is none of its values; did you mean "on"?',
          '8:22: parameter "e" has no "defalt"; did you mean "default"?',
        ],
      },
      {
        what: 'first values and defaults of the wrong type',
        source: scenario(
          'first:\n  hangup:',
          `parameters:
  n: integer
  s: { type: string, default: "\${n}" }
variables:
  a: { type: integer, value: x }
  b: "\${m}"
  c: { type: string, value: "\${n + 1}" }
`,
        ),
        found: [
          '5:31: the default of "s" is no string',
          '7:30: the value of "a" is no integer',
          '8:9: unknown name "m"; there is: n, s',
          '9:29: the value of "c" is no string',
        ],
      },
      {
        what: 'unknown sections and a missing head',
        source: `nam: x
blocks:
  first:
    hangup:
`,
        found: [
          '1:1: a scenario has no section "nam"; did you mean "name"?',
          '1:1: the scenario has no start; write start: BLOCK',
          '1:1: the scenario has no id; write id: my_scenario',
        ],
      },
      {
        what: 'blocks with no component, two components, or something else in them',
        source: scenario(`first:
  next: end
second:
  answer:
  hangup:
  nxt: end
third: play`),
        found: [
          '4:3: the block "first" names no component; write e.g. play: welcome.wav',
          '6:3: the exit "next" of the block "second" has no target; add next: BLOCK, or connect it to end',
          '6:3: the block "second" is never reached; connect an exit to it or remove it',
          '8:5: the block "second" has the component "answer" already; make it a block of its own',
          '9:5: a block has no "nxt"; did you mean "next"?',
          '10:10: the block "third" names no component; write { play: , next: BLOCK }',
        ],
      },
      {
        what: 'a key that is there twice, beside other mistakes',
        source: scenario(`first:
  hangup:
  next: end
  next: nowhere
other:
  answr:
  next: end`),
        found: [
          '7:5: this key appears twice; keep one of them',
          '9:5: there is no component "answr"; did you mean "answer"?',
        ],
      },
      {
        what: 'aliases and anchors',
        source: scenario(`first:
  play: &sound welcome.wav
  next: second
second:
  play: *sound
  next: end`),
        found: [
          '5:18: anchors (&name) are not allowed; quote a text that starts with &',
          '8:11: aliases (*name) are not allowed; write the value out, or quote a text that starts with *',
        ],
      },
      {
        what: 'an expression without quotes in a flow map',
        source: scenario('first:\n  play: { sounds: ${name} }\n  next: end'),
        found: [
          '5:22: not valid YAML: unexpected flow-map-start at node end; inside { } and [ ] put quotes around a text with ${...}',
        ],
      },
      {
        what: 'a text that says nothing',
        source: scenario('first:\n  play: [ "say:", "say[de]:Hallo" ]\n  next: end'),
        found: ['5:13: "say:" says nothing; write say:Press 1'],
      },
      {
        what: 'tones that are none, and exits that a menu cannot have',
        source: scenario(
          `first:
  play: ["tone:%(200", "tone:v=-20;%(400,2600,349.5,440);loops=2", "tone:12#;%(1,2,3)%(4,5,6)"]
  next: second
second:
  menu: { prompt: "tone:x" }
  exits: { 12: end, failed: end }`,
        ),
        found: [
          '5:12: "tone:%(200" is no tone; write e.g. tone:%(200,100,800): milliseconds on and off, Hertz',
          '8:21: "tone:x" is no tone; write e.g. tone:%(200,100,800): milliseconds on and off, Hertz',
          '9:14: "menu" has no exit "12"; there is: failed, error, and a key: the choice',
        ],
      },
      {
        what: 'that parameters keep their values, and settings that are not as they must be',
        source: `id: a
parameters: { who: string }
start: b
blocks:
  b:
    set: { who: x }
    next: c
  c:
    log: { text: hello, level: loud }
    next: end
`,
        found: [
          '6:12: "who" cannot be assigned; set a variable of your own',
          '9:32: "level" must be one of debug, info, warn, error, not "loud"',
        ],
      },
      {
        what: 'that a file is no scenario',
        source: '- 1\n',
        found: ['1:1: a scenario is a map with id, start and blocks; begin with id: my_scenario'],
      },
      {
        what: 'that a file is empty',
        source: '',
        found: ['1:1: a scenario is a map with id, start and blocks; begin with id: my_scenario'],
      },
    ];
    for (const { what, source, found } of table) {
      it(what, () => expect(problems(source)).to.deep.equal(found));
    }
  });

  it('takes a number as the written text for a setting of type text', () => {
    const { blocks } = program(scenario('first:\n  refer: { to: 0042 }\n  exits: { refused: end }'));
    expect(blocks.get('first')?.settings).to.include({ kind: 'constant' }).and.have.nested.property('value.to', '0042');
  });

  it('never throws for any file content', () => {
    const line = fc.constantFrom(
      'id: a',
      'start: b',
      'finally: c',
      'blocks:',
      '  b:',
      '    play: welcome.wav',
      '    next: end',
      '    exits: {1: b}',
      '    set: {x: "${x + 1}"}',
      'parameters: {x: string}',
      'variables: {x: [1]}',
      '  - x',
      '? y',
      '    if: a ? b',
      '    menu: [1, {a: b}]',
      '    exits: 5',
      '    next: [a]',
      'a: !!binary x',
      '${',
      '}',
      '\t',
      '"',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 14 }), fc.string({ maxLength: 10 }), (lines, noise) => {
        const { program: checked, problems: found } = check([...lines, noise].join('\n'));
        expect(checked === undefined).to.equal(found.length > 0);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses very deep nesting at once, before the slow parser', () => {
    expect(problems(`a: ${'['.repeat(50_000)}`)).to.deep.equal(['1:68: lists and maps nest too deep here']);
    expect(problems('- '.repeat(50_000))).to.deep.equal(['1:1: lists and maps nest too deep here']);
    expect(problems(`a:\n  b: "[[[["\n${'? '.repeat(50_000)}`)).to.deep.equal([
      '3:1: lists and maps nest too deep here',
    ]);
  }).timeout(500);
});
