import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { runCheck } from '../../runtime/workbench/check-command.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { compileHere, openSandbox, type Sandbox } from '../../runtime/sandbox/index.ts';
import type { Program } from '../../runtime/language/index.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { silentLog } from '../support/log.ts';
import { services, sourceOf } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const USER = `import { hours } from './hours.ts';
export default async function (call: Call, args: { day: number }) {
  return hours(args.day);
}
`;
const HOURS = `import { names } from './names.js';
let asked = 0;
export interface Opening { day: string; asked: number }
export function hours(day: number): Opening {
  asked += 1;
  if (names[day] === undefined) throw new Error('no such day');
  return { day: names[day], asked };
}
`;
const NAMES = `export const names = ['Sunday', 'Monday'];\n`;

describe('modules that scenarios import', () => {
  const folder = temporaryFolder({ each: true });
  let sandbox: Sandbox;
  let stamp = 1_700_000_000;

  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  /** Writes files with a time of their own, because two writes in one tick of the clock look like one. */
  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name);
      // oxlint-disable-next-line eslint/no-await-in-loop -- one time after the other
      await writeFile(file, text);
      stamp += 1;
      // oxlint-disable-next-line eslint/no-await-in-loop
      await utimes(file, stamp, stamp);
    }
  }

  /** The lines of `ringmaster check`, without the folder. */
  async function check(...names: readonly string[]): Promise<readonly string[]> {
    const lines: string[] = [];
    const files = names.map((name) => path.join(folder, name));
    await runCheck(files, components, (line) => lines.push(line.replace(`${folder}/`, '')), {
      compile: async (source) => compileHere(source) ?? sandbox.compile(source),
    });
    return lines;
  }

  const openLibrary = (versionsFolder?: string) =>
    openScenarioLibrary({
      folders: [folder],
      components,
      log: silentLog,
      compile: (source) => sandbox.compile(source),
      ...(versionsFolder === undefined ? {} : { versionsFolder }),
    });

  async function run(program: Program | undefined, day = 1) {
    const clock = new VirtualClock();
    const runner = new ScenarioRunner(
      sourceOf(() => program),
      silentLog,
      services({ sandbox }, clock),
    );
    const { finished } = runner.start(program as Program, { domain: asDomainName('example.com'), args: { day } });
    return await finished;
  }

  it('a scenario imports TypeScript and JavaScript of its folder, and each run has its own state', async () => {
    await write({ 'user.ts': USER, 'hours.ts': HOURS, 'names.js': NAMES });
    expect(await check('user.ts', 'hours.ts', 'names.js')).to.deep.equal([]);
    const library = await openLibrary();
    expect(library.programs().map(({ id }) => id)).to.deep.equal(['user']);
    expect(library.problems()).to.deep.equal([]);
    const program = await library.program('user');
    // oxlint-disable-next-line eslint/no-await-in-loop -- the second run gets the isolate of the first
    for (const _ of [1, 2]) expect((await run(program)).value).to.deep.equal({ day: 'Monday', asked: 1 });
  });

  it('modules that import each other in a circle run', async () => {
    await write({
      'user.ts': `import { a } from './a.ts';\nexport const one = 1;\nexport default async function (call: Call) { return a(); }`,
      'a.ts': `import { b } from './b.ts';\nexport const a = () => b() + 1;\nexport const two = 2;`,
      'b.ts': `import { two } from './a.ts';\nimport { one } from './user.ts';\nexport const b = () => two + one;`,
    });
    expect(await check('user.ts')).to.deep.equal([]);
    expect((await run(await (await openLibrary()).program('user'))).value).to.equal(4);
  });

  it('an exception in a module names the file and the line', async () => {
    await write({ 'user.ts': USER, 'hours.ts': HOURS, 'names.js': NAMES });
    const { error } = await run(await (await openLibrary()).program('user'), 9);
    expect(error?.message).to.equal('no such day');
    expect(JSON.stringify(error)).to.match(/hours\.ts:6:\d+.*user\.ts:3:\d+/);
  });

  it('a module that never ends fails the run at a limit', async () => {
    await write({
      'user.ts': `import { a } from './a.ts';\nexport default async function (call: Call) { return a; }`,
      'a.ts': 'export let a = 1;\nfor (; a > 0; ) a += 1;',
    });
    const { error } = await run(await (await openLibrary()).program('user'));
    expect([error?.code, error?.message]).to.deep.equal([
      'limit',
      'the script exceeded its limit "activation" of 500 ms between two waits',
    ]);
  });

  it('imports of npm, Node.js, the web, other folders, and missing files and names are mistakes', async () => {
    await mkdir(path.join(folder, 'below'));
    await write({
      'hours.ts': HOURS,
      'names.js': NAMES,
      'big.ts': ' '.repeat(10_000_000),
      'broken.ts': 'export const a = 1;\nexport const b = ;',
      'user.ts': `import fs from 'fs';
import a from 'https://example.com/a.js';
import b from '../../etc/passwd.js';
import c from './below/c.ts';
import { houres } from './hours.ts';
import d from './huors.ts';
import e from './big.ts';
import f from './hours';
import { g } from './broken.ts';
export default async function (call: Call) {
  await import('./hours.ts');
  return [fs, a, b, c, d, e, f, g, houres];
}`,
    });
    const only = 'a scenario imports .ts and .js files of its own folder, a script those of its domain, as "./NAME.ts"';
    const lines = await check('user.ts');
    expect(lines.filter((line) => line.startsWith('user.ts'))).to.deep.equal([
      `user.ts:1:16: "fs" cannot be imported; ${only}`,
      `user.ts:2:15: "https://example.com/a.js" cannot be imported; ${only}`,
      `user.ts:3:15: "../../etc/passwd.js" cannot be imported; ${only}`,
      `user.ts:4:15: "./below/c.ts" cannot be imported; ${only}`,
      'user.ts:5:10: hours.ts exports no "houres"; did you mean "hours"?',
      'user.ts:6:15: there is no module "huors.ts"; did you mean "hours.ts"?',
      'user.ts:7:15: the module "big.ts" has 10000000 characters; keep it below 131072',
      'user.ts:8:15: "./hours" cannot be imported; write "./hours.ts", with the extension',
      'user.ts:11:16: import(...) is not possible; write import at the top of the file',
    ]);
    expect(lines.filter((line) => !line.startsWith('user.ts'))).to.have.lengthOf(1);
    expect(lines.find((line) => !line.startsWith('user.ts'))).to.match(/^broken\.ts:2:\d+: /);
  });

  it('a scenario with more than 50 modules is refused at the import that is too much', async () => {
    const chain = Array.from({ length: 60 }, (_, index) => [
      `m${index}.ts`,
      `export * from './m${index + 1}.ts';\nexport const a${index} = 1;`,
    ]);
    await write({
      ...(Object.fromEntries(chain) as Record<string, string>),
      'user.ts': `import { a0 } from './m0.ts';\nexport default async function (call: Call) { return a0; }`,
    });
    expect(await check('user.ts')).to.deep.equal([
      'm49.ts:1:15: the scenario imports more than 50 modules; put several into one file',
    ]);
  });

  it('a module has no call of its own, and its functions are checked', async () => {
    await write({
      'hours.ts': `export async function say() {\n  await call.answer();\n  await http.reqest({ url: 'x' });\n}`,
    });
    expect(await check('hours.ts')).to.deep.equal([
      'hours.ts:2:9: there is no call here; give it to the function as an argument',
      'hours.ts:3:14: http has no "reqest"; did you mean "request"?',
    ]);
  });

  it('a changed module makes a new version; one with mistakes keeps the last', async () => {
    await write({ 'user.ts': USER, 'hours.ts': HOURS, 'names.js': NAMES });
    const library = await openLibrary();
    const first = await library.program('user');
    await write({ 'names.js': NAMES.replace('Monday', 'Montag') });
    const second = await library.program('user');
    expect(second?.version).to.not.equal(first?.version);
    await write({ 'names.js': 'export const others = 1;' });
    expect(await library.program('user')).to.equal(second);
    expect(library.problems().map(({ message }) => message)).to.include('names.js exports no "names"');
    expect((await run(first)).value).to.deep.equal({ day: 'Monday', asked: 1 });
    expect((await run(second)).value).to.deep.equal({ day: 'Montag', asked: 1 });
  });

  it('a missing module is read when it appears', async () => {
    await write({ 'user.ts': USER, 'names.js': NAMES });
    const library = await openLibrary();
    expect(await library.program('user')).to.equal(undefined);
    await write({ 'hours.ts': HOURS });
    await library.scan();
    expect((await run(await library.program('user'))).value).to.deep.equal({ day: 'Monday', asked: 1 });
  });

  it('an earlier version keeps the modules of its time over a restart', async () => {
    const kept = path.join(folder, 'versions');
    await write({ 'user.ts': USER, 'hours.ts': HOURS, 'names.js': NAMES });
    await openLibrary(kept);
    await write({ 'names.js': NAMES.replace('Monday', 'Montag') });
    await openLibrary(kept);
    const library = await openLibrary(kept);
    await library.versions.rollback('user');
    expect((await run(await library.program('user'))).value).to.deep.equal({ day: 'Monday', asked: 1 });
  });
});
