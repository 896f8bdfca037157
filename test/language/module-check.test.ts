import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import { formatProblem } from '../../runtime/language/problem.ts';
import type { Program } from '../../runtime/language/program.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';

describe('checker of modules', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  async function check(source: string, file = 'm.ts') {
    const compile = sandbox.compile.bind(sandbox);
    const { program, problems } = await checkModule(source, { file, components, compile });
    return {
      program: program as Program,
      found: problems.map((problem) => formatProblem(problem).replace(/^m\.[jt]s:/, '')),
    };
  }

  it('finds unknown functions and settings and wrong values, at their places', async () => {
    const { found } = await check(`export default async function (call: Call) {
  await call.play({ sound: 'silence:1s' });
  await call.collect({ max: '4', timeout: '5' });
  await call.plya('silence:1s');
  await call.record({ max: 5, silense: '3s' });
  await call.menu({ prompt: 'nope.wav', exits: ['1', 'x'], tries: 99 });
  await call.refer();
  await call.wait('1s');
  await model.wirte({ class: 'x' });
  await call.answer('now');
  await call.menu({ prompt: 'silence:1s', exits: { 1: 'a' } });
  await call.menu({ prompt: 'silence:1s', keys: ['1'] });
}`);
    expect(found).to.deep.equal([
      '2:14: "call.play" lacks the setting "sounds"; e.g. sounds: \'welcome.wav\'',
      '2:21: "call.play" has no setting "sound"; did you mean "sounds"?',
      '3:29: "max" must be a whole number from 1 to 64, not "4"; write it without quotes',
      '3:43: "timeout" is no duration; write 5s for seconds or 5ms for milliseconds',
      '4:14: call has no "plya"; did you mean "play"?',
      `5:28: warning: "max" is 5 milliseconds; write '5s' for seconds, or '5ms' if that is meant`,
      '5:31: "call.record" has no setting "silense"; did you mean "silence"?',
      '6:29: there is no prompt "nope.wav"; put it into prompts/ beside the scenario',
      '6:54: "menu" has no exit "x"; there is: failed, and a key: the choice',
      '6:67: "tries" must be a whole number from 1 to 20, not 99',
      '7:14: "call.refer" lacks the setting "to"; e.g. to: \'102\'',
      '8:14: call has no "wait"; write sleep(...)',
      '9:15: model has no "wirte"; did you mean "write"?',
      '10:21: "call.answer" takes settings of no name',
      `11:50: "exits" is the list of keys that count; write exits: ['1', '2']`,
      `12:43: "call.menu" has no setting "keys"; write exits: ['1', '2'] for the keys that count`,
    ]);
  });

  it('warns of unknown exports, and reads every form of export', async () => {
    const { found, program } = await check(`export const id = 'other', variables = { a: 1 }, on = {}, table = [1];
const parameters = { a: 'string' };
export { parameters };
export function limits() {}
export const schedule = '0 9 * * *';
export default async function () {}`);
    expect(found).to.deep.equal([
      '1:19: warning: there is no export "id"; the id is the name of the file, or the code of the script',
      '1:40: warning: there is no export "variables"; write let NAME = ... in the function',
      '1:55: warning: there is no export "on"; write events.on(...) in the function',
      '4:8: "limits" has to be written out; write export const limits = and a literal',
      '5:25: warning: there is no export "schedule"; write export const starts = { schedule: ... }',
    ]);
    expect(program).to.equal(undefined);
    const { program: listed } = await check(`const parameters = { a: 'string' };
export { parameters };
export default async function () {}`);
    expect(listed.parameters.map(({ name, type }) => `${name}: ${type}`)).to.deep.equal(['a: string']);
  });

  it('suggests replacements for functions of Node.js and browsers, unless the module declares them', async () => {
    const { found } = await check(`const Buffer = { from: String };
export default async function (call: Call) {
  const answer = await fetch('https://a.example/');
  setTimeout(() => call.hangup(), 1000);
  log.info(process.env.TOKEN, Buffer.from('x'), typeof setInterval);
}`);
    expect(found).to.deep.equal([
      '3:24: there is no fetch here; write await http.request({ url, method, body })',
      "4:3: there is no setTimeout here; write await sleep('5s')",
      '5:12: there is no process here; what a run needs comes as its arguments and secrets',
    ]);
  });

  it('finds unknown names and parameters, imports, and endless loops', async () => {
    const { found } = await check(`import fs from 'node:fs';
export const parameters = { agent: 'string' };
const LIMIT = 3;
export default async function (call: Call, args: { agent: string; agnt: string }) {
  const { digits } = await call.collect({ max: 1 });
  total = digts.length;
  LIMIT += 1;
  await call.say('you pressed \${digits}, that costs \${5}');
  await say(args.agnt, later);
  const later = helper();
  while (true) { log.info('x'); }
}
function helper(): unknown { return typeof window === 'undefined' ? later2 : window; }
const later2 = console.table(1);`);
    expect(found).to.deep.equal([
      '1:16: a script imports nothing, but this one imports "node:fs"; take it out: a script has the functions of the platform, and what JavaScript brings',
      '6:3: "total" is not declared; write let total = ...',
      '6:11: there is no digts here; did you mean "digits"?',
      '7:3: "LIMIT" is a constant; declare it by let LIMIT',
      '8:18: warning: "${digits" is plain text here; put the text between backticks: `...`',
      '9:9: there is no say here; write call.say(...)',
      '9:18: warning: the scenario has no parameter "agnt"; did you mean "agent"?',
      '9:24: "later" is used before it is set; declare it before',
      '11:3: warning: this loop never ends; leave it by break or return',
      '14:24: console has no "table"; there is: log, debug, info, warn, error',
    ]);
  });

  it('reports places in files with CRLF line ends', async () => {
    const compile = sandbox.compile.bind(sandbox);
    const places = async (text: string, file: string) =>
      (await checkText(text, { file, components, compile })).problems.map(({ line, column }) => `${line}:${column}`);
    expect(await places('\uFEFFexport default async (call: Call) => {\r\n  foo();\r\n};\r\n', 'm.ts')).to.deep.equal([
      '2:3',
    ]);
    const yaml =
      'id: x\r\nstart: a\r\nblocks:\r\n  a:\r\n    script: |\r\n      log(1);\r\n      foo();\r\n    next: end\r\n';
    expect(await places(`\uFEFF${yaml}`, 'm.yaml')).to.deep.equal(['7:7']);
  });

  it('explains compiler errors of a module to authors', async () => {
    const of = async (source: string, file: string) => (await check(source, file)).found;
    const end = await of('export default async (call: Call) => {\n  await call.say({\n', 'm.ts');
    expect(end).to.deep.equal(['2:19: the brackets do not match; one of {, (, [ is not closed, or closed twice']);
    const typed = await of('export default async (call: Call) => 1;', 'm.js');
    expect(typed).to.deep.equal(['1:23: missing ) after argument list; it is TypeScript: name the file .ts']);
    const common = await of('const fs = require("fs");\nmodule.exports = async (call) => fs;', 'm.js');
    expect(common).to.deep.equal([
      '1:1: the module exports no default function; write export default async function (call, args) { ... }',
      '1:12: there is no require here; a script has the functions of the platform, and no packages',
      '2:1: there is no module here; write export default async function (call, args) { ... }',
    ]);
  });

  it('finds unknown results, and functions without await', async () => {
    const { found } = await check(
      `export default async function (call) {
  call.answer();
  const { digit } = await call.collect({ max: 1 });
  if ((await call.menu({ prompt: 'silence:1s' })).key === digit) await call.hangup();
}`,
      'm.js',
    );
    expect(found).to.deep.equal([
      '2:3: warning: the module does not wait for call.answer; write await call.answer(...), or keep the promise',
      '3:11: call.collect gives no "digit"; did you mean "digits"?',
      '4:51: call.menu gives no "key"; there is: exit, digit, tries',
    ]);
  });

  it('finds unknown facts, and exits compared with numbers', async () => {
    const { found } = await check(`export default async function (call: Call) {
  const info = await call.info();
  const { runn } = await scenario.info();
  const { exit } = await call.menu({ prompt: 'silence:1s', exits: ['1'] });
  switch (exit) { case 1: log.info(info.number, info.caller, runn); }
  const late = call.info();
  log.info(late.number);
}`);
    expect(found).to.deep.equal([
      '3:11: scenario.info gives no "runn"; did you mean "run"?',
      `5:24: warning: "exit" is a string and never equals this; write '1'`,
      '5:54: call.info gives no "caller"; did you mean "number"?',
      '7:17: "late" is still a promise here, and has no "number"; write await call.info(...)',
    ]);
  });

  it('finds results read from functions without await', async () => {
    const { found } = await check(
      `export default async function (call) {
  const { digits } = call.collect({ max: 1 });
  const { number } = call.info();
  const { run } = scenario.info();
  if (call.menu({ prompt: 'silence:1s' }).digit === digits) await call.say(number + run);
}`,
      'm.js',
    );
    expect(found).to.deep.equal([
      '2:11: call.collect gives a promise, which has no "digits"; write await call.collect(...)',
      '3:27: call.info gives a promise; write await call.info()',
      '4:28: scenario.info gives a promise; write await scenario.info()',
      '5:43: call.menu gives a promise, which has no "digit"; write await call.menu(...)',
    ]);
  });

  it('refuses a number for a text, like the functions at run time', async () => {
    const { found } = await check(
      `export default async function (call) {
  await call.refer(102);
  await call.call({ leg: 'a', to: 101, headers: { 'X-A': 1 } });
}`,
      'm.js',
    );
    expect(found).to.deep.equal([
      '2:20: "call.refer" must be a text of 1 to 256 characters, not 102; put it in quotes if it is a text',
      '3:35: "to" must be a text of 1 to 256 characters, not 101; put it in quotes if it is a text',
    ]);
  });

  it('follows results into variables', async () => {
    const { found } = await check(`export default async function (call: Call) {
  const answer = await call.collect({ max: 1 });
  if (answer.digit === '1' || answer.exit === 'timout') await call.hangup();
  const { exit, tries: n } = await call.menu({ prompt: 'silence:1s' });
  switch (exit) { case '1': return n; case 'faild': break; }
  if ('error' === exit) return;
  const pending = call.collect({ max: 1 });
  log.info(pending.digits);
  const music = call.play('silence:1s');
  music.cancel();
  let other = await call.collect({ max: 1 });
  other = { any: await music };
  return other.any;
}`);
    expect(found).to.deep.equal([
      '3:14: call.collect gives no "digit"; did you mean "digits"?',
      '3:47: warning: call.collect never takes the exit "timout"; did you mean "timeout"?',
      '5:44: warning: call.menu never takes the exit "faild"; did you mean "failed"?',
      '6:7: warning: call.menu never takes the exit "error"; errors are thrown: write try { ... } catch (error) { ... }',
      '8:20: "pending" is still a promise here, and has no "digits"; write await call.collect(...)',
    ]);
  });

  it('finds uncalled functions, unknown events and exports, and values of another type', async () => {
    const { found } = await check(`export const limit = { cpu: '5s' };
export const parameters = { to: string };
export default async function (call: Call) {
  await call.answer;
  await call.transfer('101', { leg: 'x' });
  const digits = await call.collect({ max: 1 });
  if (digits === '1') log.info(\`\${digits}\`);
  const { digit } = await call.menu({ prompt: 'silence:1s' });
  if (digit === 1) return;
  const { status } = await http.request('https://a.example');
  if (status === '200' || status === 200) return;
  events.on('dtfm', () => {});
  let n = 1;
  if (n = 2) for (i = 0; i < n; i++) log.info(i);
  const rows = await model.list('a/b');
  for (const row of rows) log.info(row, call.number, typeof call.hold, call.plya);
}`);
    expect(found).to.deep.equal([
      `1:22: warning: there is no export "limit"; did you mean "limits"?`,
      '2:33: "parameters" has to be written out; write a literal here',
      '2:33: there is no string here; did you mean "String"?',
      '4:14: call.answer is not called; write await call.answer()',
      '5:14: call has no "transfer"; write call.refer(...)',
      '7:7: warning: "digits" is the whole result of call.collect; write digits.digits, or const { digits } = ...',
      '7:35: warning: "digits" is the whole result of call.collect; write digits.digits, or const { digits } = ...',
      `9:17: warning: "digit" is a string and never equals this; write '1'`,
      '11:18: warning: "status" is a number and never equals this; write 200',
      '12:13: there is no event "dtfm"; did you mean "dtmf"?',
      '14:7: warning: this assigns to "n"; write === to compare',
      '14:19: "i" is not declared; write let i = ...',
      '15:33: "model.list" takes settings: { class, filter, order, interval, limit, offset }',
      '16:21: warning: "rows" is the whole result of model.list; write rows.entities, or const { entities } = ...',
      '16:46: call has no "number"; write const { number } = await call.info()',
      '16:77: call has no "plya"; did you mean "play"?',
    ]);
    const of = async (source: string) => (await check(source, 'm.js')).found;
    expect(
      await of(`export default async (call) => {
  const answer = await call.refer('102');
  return answer.status === 'busy' || answer.status === 'engaged';
};`),
    ).to.deep.equal([
      `3:28: warning: "status" is a number and never equals this; that is an exit: compare exit with 'busy'`,
      '3:56: warning: "status" is a number and never equals this; compare it with a number',
    ]);
    expect(
      await of(`import { a } from './a.js';
import got from 'got';
export default () => [a, got];`),
    ).to.deep.equal([
      '1:19: a script imports nothing, but this one imports "./a.js"; a script is one file: take it out; for types write import type { ... }',
      '2:17: a script imports nothing, but this one imports "got"; write await http.request({ url, method, body })',
    ]);
    expect(await of('export default class { run(call) { return call; } }')).to.deep.equal([
      '1:1: the module exports no default function; write export default async function (call, args) { ... }',
    ]);
    expect(await of('export default async (call) => { await call.play("silence:1s", { repeat: 2 }); };')).to.deep.equal(
      ['1:64: warning: call.play takes one argument; put all settings into one { ... }'],
    );
  });

  it('follows the call into other functions', async () => {
    const { found } =
      await check(`export default async (phone: Call) => { await phone.plya('x'); await helper(phone); };
async function helper(call: Call) { await call.plya('x'); await other({ plya: () => 1 }); }
async function other(phone: { plya(): void }) { phone.plya(); await call.plya('x'); }`);
    expect(found.map((each) => each.split(':', 2).join(':'))).to.deep.equal(['1:53', '2:48', '3:74']);
  });

  it('follows the call under another name', async () => {
    const { found } = await check(
      'const main = async (phone) => { await phone.plya("x"); };\nexport { main as default };',
      'm.js',
    );
    expect(found).to.deep.equal(['1:45: call has no "plya"; did you mean "play"?']);
  });

  it('ignores computed values and functions outside the platform', async () => {
    const { found } = await check(`type Args = { owner?: string };
const options = { max: 4, timeout: '5s' } as const;
export default async function main(call: Call, { owner = '102' }: Args): Promise<unknown> {
  const { digits, exit } = await call.collect({ ...options, prompt: \`tone:%(300,0,\${1000})\` });
  const names = ['1', '2'];
  await call.menu({ prompt: 'silence:1s', exits: names, timeout: undefined });
  await call.play(['silence:1s', 'tone:%(1,1,1)']);
  await call.play({ file: 'silence:500ms' });
  await call.say('costs \${5}');
  await sleep(500);
  await sleep('1s');
  const music = call.holdMusic();
  music.cancel();
  void call.tone('beep');
  const http = { get: (url: string) => url };
  http.get('x');
  const agent = call;
  await agent.refer(owner);
  await call['hangup']();
  log.info((await call.info()).number);
  events.on('dtmf', ({ digit }) => log.debug(digit))();
  return { digits, exit };
}`);
    expect(found).to.deep.equal([]);
  });

  it('reads the declarations of a module, and finds mistakes in them', async () => {
    const { found } = await check(`export const parameters = {
  owner: { type: 'string', default: '102' },
  kind: { type: 'strin' },
};
export const starts = { schedule: { cron: '0 25 * * *' }, hok: true };
export const limits = { cpu: 5 };
export const fallback = \`\${1}\`;
export default async () => 1;`);
    expect(found).to.deep.equal([
      '3:17: parameter "kind" has the unknown type "strin"; did you mean "string"?',
      '5:25: the parameter "kind" is not given; add args: { kind: ... }',
      '5:43: "25" is no hour (0 to 23)',
      '5:59: there is no start "hok"; did you mean "hook"?',
      '6:25: the limit "cpu" must be a duration from 10ms to 600s',
      '7:25: "fallback" has to be written out; write export const fallback = and a literal',
    ]);
    const { program } = await check(`export const name = 'A game';
export const parameters = { secret: 'string', tries: { type: 'integer', default: 3 } };
export const starts = { hook: true, event: 'order_ready' };
export default async () => 1;`);
    expect(program.name).to.equal('A game');
    expect(program.parameters.map(({ name, type }) => `${name}: ${type}`)).to.deep.equal([
      'secret: string',
      'tries: integer',
    ]);
    expect(program.starts?.map(({ kind }) => kind)).to.deep.equal(['hook', 'event']);
  });

  it('reports a missing default function', async () => {
    expect((await check('export async function scenario(call) {}', 'm.js')).found).to.deep.equal([
      '1:1: the module exports no default function; write export default async function (call, args) { ... }',
    ]);
  });

  it('reports too deep nesting, and keeps the declarations read before', async () => {
    const instead = 'give parts of it to variables or functions of their own';
    const deep = 'this is nested too deeply to be checked';
    for (const [value, isRead] of [
      [`call${'.a'.repeat(20_000)}`, true],
      ['['.repeat(5000) + ']'.repeat(5000), false],
      [`${'('.repeat(5000)}1${')'.repeat(5000)}`, false],
    ] as const) {
      const source = `export const parameters = { n: 'string' };\nexport default async (call) => ${value};`;
      const { program, found } = await check(source, 'm.js');
      const more = isRead ? '' : ', and what it exports is not read';
      expect(found).to.deep.equal([`1:1: warning: ${deep}${more}; ${instead}`]);
      expect(program.module?.declaresParameters).to.equal(isRead);
    }
    const typed = `export default async (call: Call) => ${'['.repeat(5000)}${']'.repeat(5000)};`;
    expect((await check(typed)).found).to.deep.equal([`1:1: the source is nested too deeply; ${instead}`]);
    const deeper = `export default async (call) => ${'['.repeat(30_000)}${']'.repeat(30_000)};`;
    expect((await check(deeper, 'm.js')).found).to.deep.equal([`1:1: the source is nested too deeply; ${instead}`]);
  });
});
