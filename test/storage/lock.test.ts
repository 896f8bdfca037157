import { expect } from 'chai';
import { existsSync, readFileSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StorageLockedError } from '../../runtime/storage/index.ts';
import { LOCK_FILE, lockDirectory } from '../../runtime/storage/lock.ts';
import { startZombie } from './support/zombie.ts';
import { failure, temporaryFolders } from './support/storages.ts';

describe('data directory lock', () => {
  const folders = temporaryFolders();
  after(() => folders.removeAll());

  /** A folder whose lock was left by somebody else: this process's own, with changes. */
  async function left(changes: Record<string, unknown>): Promise<string> {
    const folder = folders.make();
    const lock = await lockDirectory(folder);
    const owner = JSON.parse(readFileSync(join(folder, LOCK_FILE), 'utf8')) as object;
    lock.release();
    writeFileSync(join(folder, LOCK_FILE), JSON.stringify({ ...owner, token: 'theirs', ...changes }));
    return folder;
  }

  const taken = async (folder: string): Promise<boolean> => {
    const lock = await lockDirectory(folder);
    const exists = existsSync(join(folder, LOCK_FILE));
    lock.release();
    return exists && !existsSync(join(folder, LOCK_FILE));
  };

  it('is refused while its owner lives', async () => {
    const error = await failure(lockDirectory(await left({})));
    expect(error).to.be.instanceOf(StorageLockedError).and.include({ pid: process.pid });
  });

  it('is taken over from a process that does not exist', async () => {
    expect(await taken(await left({ pid: 2 ** 22 + 1 }))).to.equal(true);
  });

  it('is taken over when the pid was reused', async function () {
    if (process.platform !== 'linux') this.skip();
    expect(await taken(await left({ started: '1' }))).to.equal(true);
  });

  it('is taken over from a killed process that its parent does not wait for', async function () {
    if (process.platform !== 'linux') this.skip();
    const zombie = await startZombie();
    try {
      expect(await taken(await left({ pid: zombie.pid, started: zombie.started }))).to.equal(true);
    } finally {
      zombie.remove();
    }
  });

  it('is taken over after a reboot', async function () {
    if (process.platform !== 'linux') this.skip();
    expect(await taken(await left({ bootId: '00000000-0000-0000-0000-000000000000' }))).to.equal(true);
  });

  it('is taken over from another container only after its heartbeat has stopped', async () => {
    const silent = await left({ namespace: 'pid:[1]' });
    const beating = await left({ namespace: 'pid:[1]' });
    const heart = setInterval(() => utimesSync(join(beating, LOCK_FILE), new Date(), new Date()), 200);
    const timing = { heartbeatMs: 300, missedBeats: 2 };
    const [dead, live] = await Promise.all([lockDirectory(silent, timing), failure(lockDirectory(beating, timing))]);
    clearInterval(heart);
    dead.release();
    expect(live).to.be.instanceOf(StorageLockedError);
  });

  it('is taken over when its creator died before writing its identity', async () => {
    const folder = folders.make();
    writeFileSync(join(folder, LOCK_FILE), '');
    expect(await taken(folder)).to.equal(true);
  });

  it('is refused with the pid of an owner who was still writing it', async () => {
    const folder = await left({});
    const path = join(folder, LOCK_FILE);
    const finished = readFileSync(path, 'utf8');
    writeFileSync(path, '');
    const { atime, mtime } = statSync(path);
    const refused = failure(lockDirectory(folder));
    writeFileSync(path, finished);
    // As when both fall into one tick of the file system's clock.
    utimesSync(path, atime, mtime);
    expect(await refused)
      .to.be.instanceOf(StorageLockedError)
      .and.include({ pid: process.pid });
  });

  it('has a heartbeat while it is held', async () => {
    const path = join(folders.make(), LOCK_FILE);
    const lock = await lockDirectory(dirname(path), { heartbeatMs: 10, missedBeats: 2 });
    utimesSync(path, new Date(0), new Date(0));
    const beaten = Promise.withResolvers<void>();
    const watcher = watch(path, () => beaten.resolve());
    await beaten.promise;
    watcher.close();
    const { mtimeMs } = statSync(path);
    lock.release();
    expect(mtimeMs).to.be.greaterThan(Date.now() - 10_000);
  });

  it('of a new owner survives the release of the old one', async () => {
    const folder = folders.make();
    const lock = await lockDirectory(folder);
    writeFileSync(join(folder, LOCK_FILE), 'somebody else');
    lock.release();
    expect(readFileSync(join(folder, LOCK_FILE), 'utf8')).to.equal('somebody else');
  });
});
