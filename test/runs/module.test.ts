import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { runCheck } from '../../runtime/workbench/check-command.ts';
import { checkScenario } from '../../runtime/language/checker/check-scenario.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import { formatProblem } from '../../runtime/language/problem.ts';
import type { Program } from '../../runtime/language/program.ts';
import { simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { transcript } from '../../runtime/workbench/simulation/transcript.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { silentLog } from '../support/log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('scenario modules', () => {
  let sandbox: Sandbox;
  const folder = temporaryFolder();
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  async function module(body: string): Promise<Program> {
    const source = `export default async function (call, args) {\n${body}\n}\n`;
    const { program, problems } = await checkModule(source, { file: path.join(folder, 'm.ts'), components });
    expect(problems).to.deep.equal([]);
    return program as Program;
  }

  async function run(body: string, script: CallScript = {}, http = {}) {
    const simulation = await runSimulation(await module(body), {
      script,
      components,
      openSandbox: async () => sandbox,
      http,
    });
    const {
      run: { trace },
      outcome,
    } = simulation;
    const events = [...simulation.events.values()].flat().map(({ what }) => what);
    return { ...simulation, outcome, events, steps: trace.map(({ block, exit }) => `${block} -> ${exit ?? '?'}`) };
  }

  it('get an error for a setting with an undefined value', async () => {
    const { outcome } = await run("await call.call({ to: args.nobody, caller_id: '1', leg: 'agent' });");
    expect(outcome.error).to.include({ code: 'setting', message: 'call.call lacks the setting "to"' });
  });

  it('use components as functions, with defaults, single values and other names of settings', async () => {
    const { outcome, events, steps } = await run(
      `await call.answer();
      await call.play({ file: 'tone:%(100,0,440)' });
      const { digits, exit } = await call.collect({ max: 2, timeout: '5s' });
      const { digit } = await call.menu({ prompt: 'silence:1s', exits: ['1', '2'] });
      await sleep(1500);
      await sleep('500ms');
      return { digits, exit, digit, who: (await call.info()).number };`,
      { presses: ['42', '9', '2'], from: '105' },
    );
    expect(outcome.error).to.equal(undefined);
    expect(outcome.value).to.deep.equal({ digits: '42', exit: 'next', digit: '2', who: '105' });
    expect(events.slice(0, 3)).to.deep.equal(['answer', 'play tone:%(100,0,440)', 'pressed 42']);
    expect(steps).to.deep.equal([
      'call.answer -> next',
      'call.play -> next',
      'call.collect -> next',
      'call.menu -> 2',
      'sleep -> next',
      'sleep -> next',
    ]);
    expect(outcome.milliseconds).to.equal(3600);
    expect(outcome.usage?.commands).to.be.greaterThan(0);
  });

  it('get errors as exceptions with a code', async () => {
    const { outcome } = await run(`
      const codes = [];
      const [missing, none, outside] = ['a.wav', 0, '/etc/passwd'];
      for (const wrong of [() => call.play(missing), () => call.collect({ max: none }), () => call.play(outside),
        () => call.play({ ...{ sound: 'silence:1s' } }),
        () => http.request('https://example.com/'), () => scenario.run('nothing')]) {
        try { await wrong(); } catch (error) { codes.push(error.code); }
      }
      return codes;`);
    const expected = ['no_such_prompt', 'setting', 'no_such_prompt', 'setting', 'unavailable', 'no_such_scenario'];
    expect(outcome.value).to.deep.equal(expected);
  });

  it('get an error for a duration over the maximum', async () => {
    const { outcome } = await run(`
      const found = [];
      const [long, huge] = ['169h', 1e12];
      for (const wrong of [() => sleep(long), () => sleep(huge), () => scenario.receive({ message: 'a', timeout: long })]) {
        try { await wrong(); found.push('went on'); } catch ({ code, message }) { found.push(code + ' ' + message); }
      }
      return found;`);
    expect(outcome.value).to.deep.equal([
      'setting sleep: the setting duration must be at most a week (168h)',
      'setting sleep: the setting duration must be at most a week (168h)',
      'setting scenario.receive: the setting timeout must be at most a week (168h)',
    ]);
  });

  it('keep the latest unreceived messages up to a number of characters', async () => {
    const { outcome } = await run(`
      const { run: to } = await scenario.info();
      for (const i of [1, 2, 3, 4, 5]) await scenario.send({ to, message: 'a', data: i + 'x'.repeat(240_000) });
      const found = [];
      for (let got = await scenario.receive('a'); got.exit === 'next'; got = await scenario.receive('a')) found.push(got.data[0]);
      return found;`);
    expect(outcome.error).to.equal(undefined);
    expect(outcome.value).to.deep.equal(['2', '3', '4', '5']);
  });

  it('reach HTTP, the model and events', async () => {
    const { outcome } = await run(
      `const { json } = await http.request({ url: 'https://api.example.com/a' });
      const { id } = await model.write({ class: 'notes', entity: { text: json.text } });
      const { entity } = await model.read({ class: 'notes', id });
      const { seq } = await events.publish('done');
      return [entity.text, seq];`,
      {},
      { 'GET https://api.example.com/a': { json: { text: 'hello' } } },
    );
    expect(outcome.error).to.equal(undefined);
    expect(outcome.value).to.deep.equal(['hello', 1]);
  });

  it('get a hang-up as an exception, and clean up', async () => {
    const { outcome, steps, events } = await run(
      `await call.answer();
      try { await call.collect({ max: 1, timeout: '1h' }); }
      catch (error) { await events.publish({ event: 'gone', data: { code: error.code } }); throw error; }`,
      { hangsUpAfter: 5000 },
    );
    expect(outcome).to.deep.include({ status: 'ended', milliseconds: 5000, reason: 'opponent: hung up' });
    expect(steps).to.deep.equal(['call.answer -> next', 'call.collect -> interrupted', 'events.publish -> next']);
    expect(events).to.include('publish gone');
  });

  it('use up the keys of their listeners, and leave the others', async () => {
    const turns = [
      { kind: 'press', digits: '0', after: 500 },
      { kind: 'press', digits: '7', after: 1500 },
    ] as const;
    const { outcome } = await run(
      `await call.answer();
      const heard = [];
      const stop = events.on('dtmf', ({ digit }) => { heard.push(digit); stop(); });
      await call.play('silence:1s');
      await call.play('silence:2s');
      return [...heard, (await call.collect({ max: 1 })).digits];`,
      { turns },
    );
    expect(outcome.value, outcome.error?.message).to.deep.equal(['0', '7']);
  });

  it('take their declared arguments', async () => {
    const source = `export const parameters = { owner: { type: 'string', default: '102' }, ring: { type: 'integer', default: 5 } };
      export default async (call, args) => args;`;
    const { program } = await checkModule(source, { file: path.join(folder, 'p.js'), components });
    const simulation = (args: Record<string, string>) =>
      runSimulation(program as Program, { script: {}, components, args, openSandbox: async () => sandbox });
    expect((await simulation({ owner: '7' })).outcome.value).to.deep.equal({ owner: '7', ring: 5 });
    const wrong = await simulation({ ring: 'x' }).catch((error: Error) => error.message);
    expect(wrong).to.equal('parameter ring: must be of type integer');
  });

  it('have a minute after a hang-up', async () => {
    const { outcome } = await run(
      `await call.answer();
      try { await call.collect({ max: 1, timeout: '1h' }); } catch {}
      await sleep('1h');`,
      { hangsUpAfter: 5000 },
    );
    expect(outcome.milliseconds).to.equal(65_000);
  });

  it('fail with their thrown error and its place', async () => {
    const { outcome } = await run(`await call.answer();
function inner() { return null.x; }
await inner();`);
    const message = "Cannot read properties of null (reading 'x')";
    const stack = ['inner (m.ts:3:32)', 'default (m.ts:4:7)'];
    expect(outcome).to.deep.include({ status: 'failed', error: { code: 'script', message, block: '', stack } });
  });

  it('fail with codes of their own', async () => {
    const { outcome } = await run(`throw new ScenarioError('sold_out', 'There are none left');`);
    const { code, message } = outcome.error ?? {};
    expect({ code, message }).to.deep.equal({ code: 'sold_out', message: 'There are none left' });
    const { outcome: other } = await run(`throw Object.assign(new Error('mine'), { code: 'my_code' });`);
    expect(other.error?.code).to.equal('my_code');
  });

  it('report the place of a failed call of a component, also after a wait', async () => {
    const { outcome } = await run(
      `await call.answer();
const max = 'x';
await sleep(10);
await call.collect({ max });`,
    );
    expect(outcome.error).to.deep.include({ code: 'setting', stack: ['default (m.ts:5:12)'] });
  });

  it('log the place of an unhandled rejection, and a result that is not JSON', async () => {
    const { outcome, run: played } = await run(
      `Promise.reject(new Error('nobody cares'));
await sleep(10);
return 10n;`,
    );
    expect(played.trace.flatMap(({ log = [] }) => log)).to.deep.equal([
      'warn: a rejected promise was not handled: nobody cares (m.ts:2:16)',
    ]);
    expect(outcome.error).to.deep.include({
      code: 'script',
      message: 'the returned value is not JSON: Do not know how to serialize a BigInt',
    });
  });

  it('log nothing for a cancelled promise', async () => {
    const { run: played } = await run(`await call.answer();
      const music = call.holdMusic();
      await call.say('one moment');
      music.cancel();
      await sleep(10);`);
    expect(played.trace.map(({ block }) => block)).to.have.members([
      'call.answer',
      'call.holdMusic',
      'call.say',
      'sleep',
    ]);
  });

  it('play one sound after the other, as a call does', async () => {
    const { outcome } = await run(`await call.answer();
      const done = [];
      const note = (name) => () => done.push(name);
      const long = call.play('silence:3s').then(note('long'));
      const given = call.play('silence:2s');
      given.cancel();
      const short = call.play('silence:1s').then(note('short'));
      await Promise.all([long, short]);
      return done;`);
    expect(outcome.value).to.deep.equal(['long', 'short']);
    expect(outcome.milliseconds).to.equal(4000);
  });

  it('show their failure, log lines and return value in the transcript', async () => {
    const transcribed = async (body: string) =>
      transcript(await runSimulation(await module(body), { script: {}, components, openSandbox: async () => sandbox }));
    expect(await transcribed(`log.info('begun');\nthrow new Error('no way');`)).to.deep.equal([
      '    0.0s  log (log) -> next',
      '              info: begun',
      '    0.0s      reject 480 Temporarily Unavailable',
      '    0.0s      ended by scenario: rejected 480',
      '    0.0s  failed: m.ts:3:7: no way',
    ]);
    expect((await transcribed(`await call.answer(); return { a: 1 };`)).slice(-2)).to.deep.equal([
      '    0.0s  completed',
      '              returned {"a":1}',
    ]);
  });

  it('are checked without running', async () => {
    const file = path.join(folder, 'broken.ts');
    const compile = (source: Parameters<Sandbox['compile']>[0]) => sandbox.compile(source);
    await writeFile(file, 'export default async function (call) {\n  await call.answer(;\n}\n');
    const lines: string[] = [];
    expect(await runCheck([file], components, (line) => lines.push(line), { compile })).to.equal(1);
    expect(lines[0]).to.match(/broken\.ts:2:\d+: /);
    const { problems } = await checkModule('const a = 1;', { file: 'a.js', components });
    expect(problems.map(formatProblem)).to.deep.equal([
      'a.js:1:1: the module exports no default function; write export default async function (call, args) { ... }',
    ]);
    await rm(file);
  });

  it('are called by scenarios of blocks', async () => {
    await writeFile(path.join(folder, 'sum.js'), 'export default async (call, { a, b }) => a + b;\n');
    const source = `id: y
start: a
blocks:
  a:
    run: { scenario: sum, args: { a: 1, b: 2 } }
    next: b
  b:
    return: \${a.value}
`;
    const { program } = checkScenario(source, { file: path.join(folder, 'y.yaml'), components });
    const { outcome } = await runSimulation(program as Program, {
      script: {},
      components,
      openSandbox: async () => sandbox,
    });
    expect(outcome).to.deep.include({ status: 'completed', value: 3 });
    await rm(path.join(folder, 'sum.js'));
  });

  it('with mistakes are reported when a scenario of blocks calls them', async () => {
    await writeFile(path.join(folder, 'broken.js'), 'export default async (call) => call.answr();\n');
    const source = `id: y
start: a
blocks:
  a: { run: broken, next: end }
`;
    const { program } = checkScenario(source, { file: path.join(folder, 'y.yaml'), components });
    const { outcome } = await runSimulation(program as Program, {
      script: {},
      components,
      openSandbox: async () => sandbox,
    });
    expect(outcome.error).to.deep.include({
      code: 'no_such_scenario',
      message: 'the scenario "broken" has mistakes: broken.js:1:37: call has no "answr"',
    });
    await rm(path.join(folder, 'broken.js'));
  });

  it('end with the call, their finally included, before the calling scenario of blocks', async () => {
    const body = `try { await sleep('1h'); } catch (error) { return error.code; } finally { await sleep('10s'); }`;
    await writeFile(path.join(folder, 'slow.js'), `export default async function () { ${body} }\n`);
    const source = `id: y
start: a
finally: c
blocks:
  a: { answer: , next: b }
  b: { run: slow, next: end }
  c: { return: "\${b.status} \${string(b.value)}" }
`;
    const { program } = checkScenario(source, { file: path.join(folder, 'y.yaml'), components });
    const { outcome } = await runSimulation(program as Program, {
      script: { hangsUpAfter: 1000 },
      components,
      openSandbox: async () => sandbox,
    });
    expect(outcome).to.deep.include({ status: 'ended', value: 'ended call_ended', milliseconds: 11_000 });
    await rm(path.join(folder, 'slow.js'));
  });

  it('show the resources used by a script block in the trace', async () => {
    const source = `id: s
start: a
blocks:
  a:
    script: return 1 + 1;
    next: b
  b:
    return: \${a.value}
`;
    const { program } = checkScenario(source, { file: path.join(folder, 's.yaml'), components });
    const { outcome, run: played } = await runSimulation(program as Program, {
      script: {},
      components,
      openSandbox: async () => sandbox,
    });
    expect(outcome.value).to.equal(2);
    expect(played.trace[0]?.usage?.activations).to.be.greaterThan(0);
  });

  it('are found in the library by the name of their file', async () => {
    await writeFile(path.join(folder, 'hello.js'), 'export default async function () {}\n');
    const library = await openScenarioLibrary({ folders: [folder], components, log: silentLog });
    expect((await library.program('hello'))?.module?.format).to.equal('js');
  });
});
