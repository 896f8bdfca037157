import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FreshCopy } from '../stress/fresh-copy.ts';

const run = promisify(execFile);

describe('joined modules', function () {
  this.timeout(120_000);
  let folder: string;
  let project: string;
  /** What the command says without joined modules. */
  let unjoined: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-joined-'));
    project = new FreshCopy(join(folder, 'project')).folder;
    unjoined = await check();
    await node('-e', "import('./runtime/cli/join.mjs').then(({ joinCommands }) => joinCommands())");
    await cp(joined(), join(folder, 'joined'), { recursive: true });
  });
  afterEach(async () => {
    await rm(joined(), { recursive: true });
    await cp(join(folder, 'joined'), joined(), { recursive: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const node = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: project, env: { PATH: process.env['PATH'] } })).stdout;
  const joined = () => join(project, 'node_modules/.cache/ringmaster/joined');
  const areUsed = async (): Promise<boolean> =>
    (await node('-e', "import('./runtime/cli/joined.mjs').then((all) => console.log(all.areRight()))")) === 'true\n';
  const check = () => node('runtime/cli/ringmaster.mjs', 'check', 'scenarios/examples');

  it('do what the modules do', async () => {
    expect(await areUsed()).to.equal(true);
    expect(await check())
      .to.equal(unjoined)
      .and.not.equal('');
  });

  it('keep the names of classes, which logs show, and name no function while they run', async () => {
    for (const name of ['commands', 'media', 'sip', 'packages']) {
      const text = await readFile(join(joined(), `${name}.cjs`), 'utf8');
      expect(text, name).to.contain('static {').and.contain('__className(this, ').and.not.contain('__name(this, ');
      expect(text, name).to.match(/^var __className = .* var __name = \(target\) => target;$/m);
    }
  });

  it('stay as they are when they are joined again, as `npx` does beside a running node', async () => {
    const { ino } = await stat(joined());
    await node('-e', "import('./runtime/cli/join.mjs').then(({ joinCommands }) => joinCommands())");
    expect((await stat(joined())).ino).to.equal(ino);
  });

  it('are what a command loads', async () => {
    const script = join(joined(), 'commands.cjs');
    const text = await readFile(script, 'utf8');
    // The contents are recorded for the changed file too.
    await writeFile(script, text.replace(`{'use strict';`, `{'use strict';process.stdout.write('joined\\n');`));
    await node(
      '-e',
      `import('./runtime/cli/joined.mjs').then(({ contentsOf }) => {
        const file = '${join(joined(), 'contents.json')}';
        const { files } = JSON.parse(fs.readFileSync(file, 'utf8'));
        fs.writeFileSync(file, contentsOf(files));
      })`,
    );
    expect(await check()).to.match(/^joined\n/);
  });

  it('are not used once a module of the project has changed, even with the same size', async () => {
    const module = join(project, 'runtime/cli/main.ts');
    const text = await readFile(module, 'utf8');
    await writeFile(module, text.replace('a scenario runtime for telephony', 'A SCENARIO RUNTIME FOR TELEPHONY'));
    expect(await node('runtime/cli/ringmaster.mjs', 'help')).to.contain('A SCENARIO RUNTIME FOR TELEPHONY');
    await writeFile(module, text);
    expect(await areUsed()).to.equal(true);
  });

  it('are not used once a package that they contain has changed', async () => {
    const manifest = join(project, 'node_modules/kysely/package.json');
    const text = await readFile(manifest, 'utf8');
    // The installed packages are hard links.
    await rm(manifest);
    await writeFile(manifest, `${text}\n`);
    expect(await areUsed()).to.equal(false);
    await writeFile(manifest, text);
    expect(await areUsed()).to.equal(true);
  });

  it('are not used when one of them is damaged or missing', async () => {
    const script = join(joined(), 'packages.cjs');
    await appendFile(script, ' ');
    expect(await areUsed()).to.equal(false);
    expect(await check()).to.equal(unjoined);
    await rm(script);
    expect(await areUsed()).to.equal(false);
    expect(await check()).to.equal(unjoined);
  });

  it('are loaded with the code that an earlier command has compiled, while it is as it was written', async () => {
    const code = join(joined(), 'commands.code');
    const withoutCode = await compiledAnew({ KEEPS_COMPILED_CODE: '1' });
    expect(existsSync(code)).to.equal(false);
    await node('-e', "import('./runtime/cli/join.mjs').then(({ takeCode }) => takeCode())");
    expect(await areUsed()).to.equal(true);
    expect(await compiledAnew()).to.be.lessThan(withoutCode / 2);
    expect(await check()).to.equal(unjoined);
    await appendFile(code, ' ');
    expect(await areUsed()).to.equal(false);
    expect(await check()).to.equal(unjoined);
  });

  /** Functions that V8 compiles for a command. Code is of use only for a process with the same flags of V8. */
  async function compiledAnew(env: Record<string, string> = {}): Promise<number> {
    const log = join(folder, 'v8.log');
    const flags = ['--log-function-events', `--logfile=${log}`, '--no-logfile-per-isolate'];
    await run(process.execPath, [...flags, 'runtime/cli/ringmaster.mjs', 'check', 'scenarios/examples'], {
      cwd: project,
      env: { PATH: process.env['PATH'], ...env },
    });
    return (await readFile(log, 'latin1')).split('\n').filter((line) => line.startsWith('function,parse-function,'))
      .length;
  }
});
