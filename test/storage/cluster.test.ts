import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { StorageUnavailableError } from '../../runtime/storage/errors.ts';
import { ensureCluster, templateFile } from '../../runtime/storage/pglite/cluster.ts';
import { childrenOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { failure, temporaryFolders } from './support/storages.ts';

/** The processes that make a cluster for a process. */
function makersOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => commandOf(child).includes('cluster-process'));
}

/** Empty for a process that is gone. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

describe('creating a PGlite cluster', function () {
  this.timeout(300_000);
  const folders = temporaryFolders();
  const warned: object[] = [];
  const ignore = (): void => undefined;
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (fields: object, message: string) => void warned.push({ ...fields, message }),
  };
  beforeEach(() => void warned.splice(0));
  after(() => folders.removeAll());
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('a hanging cluster preparation is killed, logged and repeated', async () => {
    const parent = folders.make();
    const folder = join(parent, 'cluster');
    // With a template at hand the next attempt takes no time, however busy the machine is.
    await ensureCluster(join(folders.make(), 'cluster'), templateFile(), log);
    const made = ensureCluster(folder, templateFile(), log, 5000);
    const [hanging = 0] = await eventually(async () => {
      const makers = makersOf(process.pid);
      expect(makers).to.have.length(1);
      return makers;
    });
    process.kill(hanging, 'SIGSTOP');
    await made;
    expect(existsSync(join(folder, 'PG_VERSION'))).to.equal(true);
    expect(warned[0]).to.deep.equal({
      folder,
      milliseconds: 5000,
      attempt: 1,
      attempts: 3,
      message: 'making the database took too long; its process was killed',
    });
    expect(commandOf(hanging)).to.equal('');
    expect(makersOf(process.pid)).to.deep.equal([]);
    expect(readdirSync(parent)).to.deep.equal(['cluster']);
  });

  it('three attempts over the limit end with an error and leave no files', async () => {
    const parent = folders.make();
    const template = join(folders.make(), 'template');
    const error = await failure(ensureCluster(join(parent, 'cluster'), template, log, 20));
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.include('each of 3 attempts took too long');
    expect(warned.map((fields) => (fields as { milliseconds: number }).milliseconds)).to.deep.equal([20, 40, 80]);
    expect(readdirSync(parent)).to.deep.equal([]);
    expect(makersOf(process.pid)).to.deep.equal([]);
  });

  it('the cluster process ends with a killed node and leaves no cluster behind', async () => {
    const folder = join(folders.make(), 'cluster');
    const source = import.meta.resolve('../../runtime/storage/pglite/cluster.ts');
    const program = `import { ensureCluster, templateFile } from ${JSON.stringify(source)};
      await ensureCluster(${JSON.stringify(folder)}, undefined, console);`;
    const node = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
    const [maker = 0] = await eventually(async () => {
      const makers = makersOf(node.pid ?? 0);
      expect(makers).to.have.length(1);
      return makers;
    });
    node.kill('SIGKILL');
    await once(node, 'exit');
    await eventually(async () => expect(commandOf(maker)).to.equal(''), 30_000);
    expect(existsSync(folder)).to.equal(false);
  });
});
