import { expect } from 'chai';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import {
  SqlError,
  StorageClosedError,
  StorageTimeoutError,
  StorageUnavailableError,
} from '../../runtime/storage/errors.ts';
import { ensureCluster, templateFile } from '../../runtime/storage/pglite/cluster.ts';
import { PgliteEngine } from '../../runtime/storage/pglite/engine.ts';
import { silentLog } from '../support/log.ts';
import { failure, temporaryFolders } from './support/storages.ts';

describe('PGlite engine', function () {
  this.timeout(60_000);
  const LIMIT_MS = 800;
  const folders = temporaryFolders();
  const logged: string[] = [];
  const log = { ...silentLog, error: (_: object, text: string) => void logged.push(text) };
  let directory: string;
  let engine: PgliteEngine;

  before(async () => {
    directory = join(folders.make(), 'cluster');
    await ensureCluster(directory, templateFile(), log);
  });
  beforeEach(() => {
    logged.length = 0;
    engine = new PgliteEngine({ directory, queryTimeoutMs: LIMIT_MS, log });
  });
  afterEach(() => engine.close());
  after(() => folders.removeAll());

  const run = async (sql: string) => (await engine.query(await engine.life(), sql, [])).rows;

  it('a stopped query starts a new life; the old one stays ended', async () => {
    const first = await engine.life();
    await run('create table kept (x integer)');
    await run('insert into kept values (1)');
    expect(await failure(run('select pg_sleep(60)'))).to.be.instanceOf(StorageTimeoutError);
    const second = await engine.life();
    expect([first.number, second.number, engine.restarts]).to.deep.equal([1, 2, 1]);
    expect(await failure(engine.query(first, 'select 1', []))).to.be.instanceOf(StorageTimeoutError);
    expect(await run('select x from kept')).to.deep.equal([{ x: 1 }]);
    expect(logged).to.deep.equal(['database engine stopped']);
  });

  it('a refused statement does not stop the engine', async () => {
    expect(await failure(run('select nonsense')))
      .to.be.instanceOf(SqlError)
      .and.include({ code: '42703' });
    expect(await run('select 1 as x')).to.deep.equal([{ x: 1 }]);
    expect(engine.restarts).to.equal(0);
  });

  it('a missing folder is reported, not replaced by an empty one, and opened again when it is back', async () => {
    await run('select pg_sleep(0)');
    const aside = `${directory}.aside`;
    renameSync(directory, aside);
    await failure(run('select pg_sleep(60)'));
    expect(await failure(engine.life())).to.be.instanceOf(StorageUnavailableError);
    renameSync(aside, directory);
    expect(await run('select 2 as x')).to.deep.equal([{ x: 2 }]);
  });

  it('concurrent starts share one worker, which refuses two queries at once', async () => {
    const [life, same] = await Promise.all([engine.life(), engine.life()]);
    expect(same).to.equal(life);
    const first = engine.query(life, 'select 1 as x', []);
    expect((await failure(engine.query(life, 'select 2', []))).message).to.include('while another was running');
    expect((await first).rows).to.deep.equal([{ x: 1 }]);
  });

  it('a closed engine stays closed, even during a restart', async () => {
    await engine.life();
    await failure(run('select pg_sleep(60)'));
    await engine.close();
    expect(await failure(engine.life())).to.be.instanceOf(StorageClosedError);
    await engine.close();
  });
});
