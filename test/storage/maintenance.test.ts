import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Storage, openStorage } from '../../runtime/storage/index.ts';
import { maintain } from '../../runtime/storage/maintenance.ts';
import { temporaryFolders } from './support/storages.ts';

describe('PGlite maintenance', () => {
  const folders = temporaryFolders();
  let storage: Storage;
  before(async () => {
    storage = await openStorage({ dataDir: folders.make() });
  });
  after(async () => {
    await storage.close();
    folders.removeAll();
  });

  const segments = (): number =>
    readdirSync(join(storage.location, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name)).length;

  it('bounds the write-ahead log', async () => {
    const worthIt = 4 * 1024 * 1024;
    await sql`create table growing (x integer, filler text)`.execute(storage.db);
    for (let round = 0; round < 5; round++) {
      await sql`insert into growing select n, repeat('x', 600) from generate_series(1, 10000) n`.execute(storage.db);
      expect(await maintain(storage.db, worthIt)).to.equal(true);
    }
    // 5 rounds of 7 MB in segments of 1 MB; without checkpoints all of them would be there.
    expect(segments()).to.be.at.most(24);
  });

  it('does nothing after few writes', async () => {
    await maintain(storage.db);
    await storage.db.deleteFrom('domains').execute();
    expect(await maintain(storage.db)).to.equal(false);
  });
});
