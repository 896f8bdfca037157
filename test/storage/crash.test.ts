import { expect } from 'chai';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Storage, StorageLockedError, StorageUnavailableError, openStorage } from '../../runtime/storage/index.ts';
import { silentLog } from '../support/log.ts';
import { storageChild } from './support/child-process.ts';
import { failure, temporaryFolders } from './support/storages.ts';

/** Columns, constraints, indexes and functions of ours. */
async function schemaOf(storage: Storage): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select concat_ws(' ', proname, prosrc) from pg_proc where pronamespace = 'public'::regnamespace
    order by line`.execute(storage.db);
  return rows.map(({ line }) => line);
}

describe('PGlite storage after the end of its process', function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  after(() => folders.removeAll());

  it('a process killed while writing loses no acknowledged row, twice in a row', async () => {
    const dataDir = folders.make();
    let acked = 0;
    for (const rows of [25, 60]) {
      const child = storageChild(dataDir, 'write');
      expect(await child.line()).to.equal('open');
      for (let row = 0; row < rows; row++) acked = Number((await child.line()).split(' ')[1]);
      await child.kill();
    }
    const storage = await openStorage({ dataDir });
    const { rows } = await sql<{ n: number }>`select count(*) as n from acked where n <= ${acked}`.execute(storage.db);
    await storage.close();
    expect(rows).to.deep.equal([{ n: acked }]);
  });

  it('a process killed while opening leaves an empty postmaster.pid, and the folder opens again', async () => {
    const dataDir = folders.make();
    await (await openStorage({ dataDir })).close();
    writeFileSync(join(dataDir, 'pglite', 'postmaster.pid'), '');
    await (await openStorage({ dataDir })).close();
  });

  it('a held folder is refused with the pid of its owner', async () => {
    const dataDir = folders.make();
    const child = storageChild(dataDir, 'hold');
    try {
      expect(await child.line()).to.equal('open');
      const error = await failure(openStorage({ dataDir }));
      expect(error).to.be.instanceOf(StorageLockedError).and.include({ folder: dataDir, pid: child.pid });
    } finally {
      await child.kill();
    }
  });

  it('one of several processes takes over the folder of a killed one', async () => {
    const dataDir = folders.make();
    const first = storageChild(dataDir, 'hold');
    await first.line();
    await first.kill();
    const contenders = [1, 2, 3].map(() => storageChild(dataDir, 'hold'));
    try {
      const said = await Promise.all(contenders.map((child) => child.line()));
      const winner = contenders[said.indexOf('open')];
      expect(said.filter((line) => line === 'open')).to.have.length(1);
      expect(said.filter((line) => line === `locked ${winner?.pid}`)).to.have.length(2);
    } finally {
      await Promise.all(contenders.map((child) => child.kill()));
    }
  });

  it('a second opening in the same process is refused until the first is closed', async () => {
    const dataDir = folders.make();
    const storage = await openStorage({ dataDir });
    expect(await failure(openStorage({ dataDir })))
      .to.be.instanceOf(StorageLockedError)
      .and.include({ pid: process.pid });
    await storage.close();
    await (await openStorage({ dataDir })).close();
    expect(readdirSync(dataDir)).to.deep.equal(['pglite']);
  });

  it('an interrupted first start is followed by a new cluster', async () => {
    const dataDir = folders.make();
    const unfinished = join(dataDir, 'pglite.unfinished');
    mkdirSync(join(unfinished, 'base'), { recursive: true });
    writeFileSync(join(unfinished, 'PG_VERSION'), '18\n');
    const storage = await openStorage({ dataDir });
    const rows = await storage.db.selectFrom('domains').selectAll().execute();
    await storage.close();
    expect(rows).to.deep.equal([]);
    expect(existsSync(unfinished)).to.equal(false);
  });

  it('without a template (read-only installation) the schema is the same', async () => {
    const file = join(folders.make(), 'file');
    writeFileSync(file, '');
    const [without, copied] = [
      await openStorage({ dataDir: folders.make(), template: join(file, 'impossible') }),
      await openStorage({ dataDir: folders.make() }),
    ];
    const rows = await without.db.selectFrom('users').selectAll().execute();
    const schemas = [await schemaOf(without), await schemaOf(copied)];
    await without.close();
    await copied.close();
    expect(rows).to.deep.equal([]);
    expect(schemas[0]).to.have.length.above(100).and.to.deep.equal(schemas[1]);
  });

  it('a template with applied migrations is copied', async () => {
    const told: unknown[] = [];
    const log = { ...silentLog, info: (fields: unknown) => void told.push(fields) };
    const template = join(folders.make(), 'template');
    for (const dataDir of [folders.make(), folders.make()])
      await (await openStorage({ dataDir, template, log })).close();
    expect(existsSync(template)).to.equal(true);
    expect(JSON.stringify(told)).to.not.include('applied');
  });

  it('a damaged template is made anew by each of two first starts at once', async () => {
    const folder = folders.make();
    const template = join(folder, 'template');
    writeFileSync(template, 'nonsense');
    const told: string[] = [];
    const log = { ...silentLog, warn: (_: unknown, message: string) => void told.push(message) };
    const open = async () => await (await openStorage({ dataDir: folders.make(), template, log })).close();
    await Promise.all([open(), open()]);
    expect(told).to.deep.equal(Array(2).fill('the prepared database cannot be used and is made again'));
    await open();
    expect(told).to.have.length(2);
    expect(readdirSync(folder)).to.deep.equal(['template']);
  }).timeout(300_000);

  it('a damaged cluster is reported, and its folder released', async () => {
    const dataDir = folders.make();
    await (await openStorage({ dataDir })).close();
    writeFileSync(join(dataDir, 'pglite', 'global', 'pg_control'), 'nonsense');
    const error = await failure(openStorage({ dataDir }));
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.include(join(dataDir, 'pglite'));
    expect(readdirSync(dataDir)).to.deep.equal(['pglite']);
  });

  it('a folder that cannot be created is reported', async () => {
    const file = join(folders.make(), 'file');
    writeFileSync(file, '');
    const error = await failure(openStorage({ dataDir: join(file, 'below') }));
    expect(error).to.be.instanceOf(StorageUnavailableError);
  });
});
