import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import { formatProblem } from '../../runtime/language/problem.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';

/** A scenario with a script, whose code begins in line 11, column 9. */
function scenario(code: string, then = 'log: "${calc.value}"'): string {
  const lines = code.split('\n').map((line) => (line === '' ? '' : `        ${line}`));
  return `id: x
parameters: { who: string }
variables: { tries: 0, note: { type: string, value: "" } }
start: ask
blocks:
  ask: { collect: { max: 4 }, exits: { next: calc, timeout: calc } }
  calc:
    script:
      vars: { digits: "\${ask.digits}", tries: "\${tries}" }
      code: |
${lines.join('\n')}
    next: then
  then: { ${then}, next: end }
`;
}

describe('checker of script blocks', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  async function check(source: string): Promise<string[]> {
    const compile = sandbox.compile.bind(sandbox);
    const { problems } = await checkText(source, { file: 'x.yaml', components, compile });
    return problems.map((problem) => formatProblem(problem).replace(/^x\.yaml:/, ''));
  }

  it('finds unknown names, with suggestions', async () => {
    const code = `const sum = [...vars.digits].reduce((total, digit) => totl + Number(digit), 0);
require('fs'); console.log(process.env.HOME, Buffer);
fetch('https://a.example'); setTimeout(() => 1, 5);
await call.play('x.wav'); await sleep(5);
const a = digits + tries + who + ask.digits + call.number + nobody;
if (typeof window !== 'undefined') window.open();
return a + sum;`;
    expect(await check(scenario(code))).to.deep.equal([
      '11:63: there is no totl here; did you mean "total"?',
      '12:9: there is no require here; a script has the functions of the platform, and no packages',
      '12:36: there is no process here; what a run needs comes as its arguments and secrets',
      '12:54: there is no Buffer here; a script has texts and JSON',
      '13:9: there is no fetch here; make it a block of its own, http: ...',
      '13:37: there is no setTimeout here; make it a block of its own, wait: ...',
      '14:15: there is no call here; a script block only computes: make it a block of its own, play: ...',
      '14:41: there is no sleep here; a script block only computes: make it a block of its own, wait: ...',
      '15:19: there is no digits here; write vars.digits',
      '15:28: there is no tries here; write vars.tries',
      '15:36: there is no who here; write vars: { who: "${who}" } and read vars.who',
      '15:42: there is no ask here; write vars: { digits: "${ask.digits}" } and read vars.digits',
      '15:55: there is no call here; write vars: { number: "${call.number}" } and read vars.number',
      '15:69: there is no nobody here',
    ]);
  });

  it('finds variables that are undeclared, not passed, or of another type', async () => {
    const code = `total = 5; total += 1; tries = 3; other += 1;
vars.nope = 1; vars.tries = '3'; vars.digits = vars.digits.trim(); vars.who = 'b';
vars.note = vars.digts; vars.tires += 1;
const { digits, tris, x = 1, ...rest } = vars;
const c = 1; c++; late(); const late = () => 1;
args.who;
return [digits, tris, x, rest];`;
    expect(await check(scenario(code))).to.deep.equal([
      '11:9: warning: "total" is not declared; write let total = ...',
      '11:32: warning: "tries" is not declared; write vars.tries = ...',
      '11:43: there is no other here',
      '12:14: there is no variable "nope"; did you mean "note"?',
      '12:29: the variable "tries" is of type integer',
      '12:47: there is no variable "digits"; declare it under variables, or write let digits = ...',
      '12:81: "who" is a parameter and cannot be assigned; declare a variable for it',
      '13:26: warning: vars.digts is not given to this script; did you mean "digits"?',
      '13:38: there is no variable "tires"; did you mean "tries"?',
      '14:25: warning: vars.tris is not given to this script; did you mean "tries"?',
      '15:22: "c" is a constant; declare it by let c',
      '15:27: "late" is used before it is set; declare it before',
      '16:9: warning: a script block has no arguments; give it values by the setting vars',
    ]);
  });

  it('warns when a script reads and updates a variable that is not passed to it', async () => {
    const code =
      'vars.note = `${vars.note}${vars.digits}`; vars.note = vars.note + "."; vars.tries = vars.tries + 1; return 1;';
    expect(await check(scenario(code))).to.deep.equal([
      '11:29: warning: vars.note is not given to this script; write vars: { note: "${note}" }',
    ]);
  });

  it('finds missing and unread results, endless loops, and ${} in plain texts', async () => {
    expect(await check(scenario('vars.tries = 1;'))).to.deep.equal([
      '11:9: warning: nothing is returned, but "calc.value" is read; write return ...',
    ]);
    expect(await check(scenario('return vars.digits.length;', 'log: done'))).to.deep.equal([
      '11:9: warning: the result is never read, and the script has no other effect; read ${calc.value} in a later block, or assign to vars.NAME',
    ]);
    const code = `const n = vars.tries;
while (true) { log('pressed \${n}, \${ask.digits}'); }
outer: for (;;) { for (;;) continue outer; }
return "\${who} \${x} \${5}";`;
    expect(await check(scenario(code))).to.deep.equal([
      '12:9: warning: this loop never ends; leave it by break or return',
      '12:28: warning: "${n" is plain text here; put the text between backticks: `...`',
      '13:16: warning: this loop never ends; leave it by break or return',
      '14:16: warning: "${who" is plain text here; give it the value by the setting vars',
    ]);
  });

  /** A scenario with one block, whose script is written in one of many ways: from line 5 on. */
  const written = (script: string): string => `id: x
start: a
blocks:
  a:
    ${script}
    next: end
`;
  const mistakes: readonly (readonly [what: string, script: string, found: string])[] = [
    [
      'lines',
      `script: |

      let a = 1;
        a = ;`,
      '8:13: Expression expected',
    ],
    ['lines with an indentation of their own', 'script: |2\n        let a = ;', '6:17: Expression expected'],
    ['double quotes', 'script: "let a = \\"\\u0041\\" + ;"', '5:35: Expression expected'],
    ['double quotes, with lines in them', 'script: "let a = 1;\\n  a = ;"', '5:32: Expression expected'],
    ['single quotes', "script: 'let a = ''b'' + ;'", '5:30: Expression expected'],
    [
      'lines that are folded',
      'script: >\n      let a = 1;\n      a = ;',
      '7:11: Expression expected; YAML makes one line of these; write code: | and the lines below it',
    ],
    [
      'lines without quotes',
      'script: let a = 1;\n      a = ;',
      '6:11: Expression expected; YAML makes one line of these; write code: | and the lines below it',
    ],
    [
      'code that is not closed',
      'script: |\n      if (vars.a) {\n        log(1);',
      '7:16: the brackets do not match; one of {, (, [ is not closed, or closed twice',
    ],
    [
      'a word that is misspelt',
      'script: |\n      for (const a of [1]) { retrun a; }',
      '6:30: "retrun" is no word of JavaScript; did you mean "return"?',
    ],
    [
      'a word that is misspelt, and a name for JavaScript',
      'script: |\n      if (1 < 2) retrun;',
      '6:18: there is no retrun here; did you mean "return"?',
    ],
    [
      'placeholders of expressions',
      'script: |\n      return {{call.number}} + 1;',
      '6:15: Unexpected token `{`. Expected identifier, string literal, numeric literal or [ for the computed key; a script gets values by the setting vars, and reads vars.NAME',
    ],
    [
      'an import',
      "script: |\n      import fs from 'fs';",
      '6:7: a script block imports and exports nothing; take it out, or write a module',
    ],
    [
      'an enum',
      'script: |\n      enum A { B }',
      "6:7: there is no enum here; write const NAME = { A: 'a' } as const, or a type",
    ],
    [
      'TypeScript in JavaScript',
      "script: { language: js, code: 'const a: string = vars.b;' }",
      '5:42: Missing initializer in const declaration; it is TypeScript: take out language: js',
    ],
  ];
  for (const [what, script, found] of mistakes)
    it(`reports the place of a mistake in ${what}`, async () => {
      expect(await check(written(script))).to.deep.equal([found]);
    });

  it('accepts unusual but right code', async () => {
    const code = `type Row = { digit: string };
interface Sum { total: number }
declare const globalThis: { cache?: number };
import type { X } from './x.ts';
const rows: Row[] = [...vars.digits as string].map((digit) => ({ digit }) satisfies Row);
let open: Sum | undefined, n!: number;
function sum<T extends Row>(list: readonly T[], start = 0): number { return list.reduce((all, { digit }) => all + +digit, start); }
abstract class Base { abstract x(): void; }
class Own extends Base { #y = 1; x(): void { this.#y++; } static of = () => new Own(); }
for (const [key, value] of Object.entries(vars)) { vars[key] = value; }
vars.note ??= '';
vars.fresh?.length;
while (true) { n = (n ?? 0) + 1; if (n > 3) break; }
label: for (;;) { for (;;) { break label; } }
try { JSON.parse('{'); } catch { throw new ScenarioError('bad', \`\${n}\`); }
events.on('x', () => log.warn('y', secrets.z));
return [sum(rows), open, Own.of(), Intl, new Map(), structured()];
function structured() { return arguments.length; }`.replace(/^import.*\n/m, '');
    expect(await check(scenario(code))).to.deep.equal([]);
  });

  it('reports too deep nesting', async () => {
    const found = await check(
      scenario(`return ${'('.repeat(5000)}1${')'.repeat(5000)};`).replace('code:', 'language: js\n      code:'),
    );
    expect(found.map((problem) => problem.replace(/^\d+:\d+: /, ''))).to.deep.equal([
      'the source is nested too deeply; give parts of it to variables or functions of their own',
    ]);
    const long = await check(
      scenario(`return 1${' + 1'.repeat(30_000)};`).replace('code:', 'language: js\n      code:'),
    );
    expect(long).to.deep.equal([
      '12:9: warning: this is nested too deeply to be checked; give parts of it to variables or functions of their own',
    ]);
  });
});
