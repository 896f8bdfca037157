/** Single statements, past kysely: several at a time, each committed by itself. */
import { expect } from 'chai';
import {
  SqlError,
  StorageClosedError,
  StorageError,
  StorageTimeoutError,
  StorageUnavailableError,
} from '../../runtime/storage/errors.ts';
import { sql } from '../../runtime/storage/sql.ts';
import { SilentWay } from './support/silent-way.ts';
import { postgresServer } from './support/postgres-server.ts';
import { describePostgres, describeStorages, failure, temporaryFolders, withStorage } from './support/storages.ts';
import { openStorage, type TextRow } from '../../runtime/storage/index.ts';
import { storageChild } from './support/child-process.ts';

describeStorages('single statements', (newPlace) => {
  const storage = withStorage(newPlace, {});
  const run = (text: string, ...values: readonly unknown[]): Promise<readonly TextRow[]> =>
    storage().run({ text, values });

  before(async () => {
    await run('create table singles (n integer primary key, word text)');
  });
  beforeEach(async () => {
    await run('truncate singles');
  });

  it('answer rows as PostgreSQL writes them', async () => {
    const text = `select $1::text, $2::integer, null, true, '{"a": 1}'::jsonb, 0.1::float8, array[1, 2]`;
    expect(await run(text, 'Жук 😀', 7)).to.deep.equal([['Жук 😀', '7', null, 't', '{"a": 1}', '0.1', '{1,2}']]);
    expect(await run('select $1::text where false', 'x')).to.deep.equal([]);
    expect(await run('select $1::text', null)).to.deep.equal([[null]]);
    expect(await run('select from generate_series(1, 2)')).to.deep.equal([[], []]);
    const long = 'ä'.repeat(3_000_000);
    expect((await run('select $1::text', long))[0]?.[0] === long).to.equal(true);
  });

  it('each get their own answer, with any number of concurrent statements and more texts than are prepared', async () => {
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 500 }, (_, n) => run(`select ${n % 250} + $1::integer`, round)),
      );
      expect(answers).to.deep.equal(Array.from({ length: 500 }, (_, n) => [[String((n % 250) + round)]]));
    }
  });

  it('fail without affecting concurrent ones', async () => {
    await run('insert into singles values (5, null)');
    const settled = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => run('insert into singles values ($1, $2)', n % 20, 'x')),
    );
    const refused = settled.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused).to.have.length(21);
    for (const { reason } of refused) {
      expect(reason).to.be.instanceOf(SqlError).and.include({ code: '23505', constraint: 'singles_pkey' });
    }
    expect(await run('select count(*) from singles')).to.deep.equal([['20']]);
    // The first use of a name failed after it was prepared, or before.
    for (let n = 0; n < 5; n += 1) {
      expect(await failure(run('insert into singles values ($1::integer)', 5))).to.include({ code: '23505' });
      expect(await failure(run('select missing from singles'))).to.include({ code: '42703' });
      expect(await run('select 1')).to.deep.equal([['1']]);
    }
  });

  it('run outside of a concurrent transaction', async () => {
    const begun = Promise.withResolvers<void>();
    const transaction = storage()
      .db.transaction()
      .execute(async (tx) => {
        await sql`insert into singles values (1, 'in')`.execute(tx);
        begun.resolve();
        await sql`select pg_sleep(0.05)`.execute(tx);
        throw new Error('rolled back');
      });
    await begun.promise;
    const written = run(`insert into singles values (2, 'out')`);
    expect((await failure(transaction)).message).to.equal('rolled back');
    await written;
    expect(await run('select n from singles')).to.deep.equal([['2']]);
  });

  it('and transactions all make progress', async () => {
    const order: string[] = [];
    const one = async (n: number): Promise<void> => {
      await run('select $1::integer', n);
      order.push('single');
    };
    const singles = async (): Promise<void> => {
      while (order.filter((each) => each === 'transaction').length < 20) await one(1);
    };
    const transactions = async (): Promise<void> => {
      for (let n = 0; n < 20; n += 1) {
        await storage()
          .db.transaction()
          .execute((tx) => sql`select 1`.execute(tx));
        order.push('transaction');
      }
    };
    await Promise.all([...Array.from({ length: 30 }, singles), transactions()]);
    expect(order.filter((each) => each === 'single').length).to.be.greaterThan(20);
  });
});

describePostgres('single statements over connections', (newPlace) => {
  const storage = withStorage(newPlace, { poolSize: 2 });

  it('fail when their connection is lost; concurrent and later ones succeed', async () => {
    const run = (text: string): Promise<readonly TextRow[]> => storage().run({ text, values: [] });
    const lost = failure(run('select pg_sleep(30)'));
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where query = 'select pg_sleep(30)' and state = 'active' and pid <> pg_backend_pid()`;
    while ((await run(terminate)).length === 0);
    const beside = await Promise.all(Array.from({ length: 20 }, (_, n) => run(`select ${n}`)));
    expect(await lost).to.be.instanceOf(StorageUnavailableError);
    expect(beside).to.deep.equal(Array.from({ length: 20 }, (_, n) => [[String(n)]]));
  });

  it('report a connection lost within a transaction to that transaction only', async () => {
    const { db, run } = storage();
    const transaction = failure(
      db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        const pid = rows[0]?.pid ?? 0;
        // It waits for nothing when its connection ends.
        await run({ text: 'select pg_terminate_backend($1)', values: [pid] });
        while ((await run({ text: 'select from pg_stat_activity where pid = $1', values: [pid] })).length > 0);
        await sql`select 1`.execute(tx);
      }),
    );
    expect(await transaction).to.be.instanceOf(StorageUnavailableError);
    expect(await run({ text: 'select 1', values: [] })).to.deep.equal([['1']]);
  });

  it('close a silent connection, and reconnect when the server answers', async () => {
    const server = await postgresServer();
    if (server === undefined) throw new Error('PostgreSQL is not installed.');
    const way = await SilentWay.open(await server.createDatabase());
    const options = { dataDir: 'unused', databaseUrl: way.url, queryTimeoutMs: 400, poolSize: 2 };
    const { db, run, close } = await openStorage(options);
    const one = { text: 'select 1', values: [] };
    const both = (): Promise<unknown>[] => [
      run(one),
      db.transaction().execute(async (tx) => await sql`select 1`.execute(tx)),
    ];
    try {
      await Promise.all(both());
      way.silence();
      for (const error of await Promise.all(both().map(failure))) {
        expect(error).to.be.instanceOf(StorageUnavailableError);
      }
      way.speak();
      await Promise.all(both());
    } finally {
      way.speak();
      await close();
      way.close();
    }
  });

  it('over the limit are stopped by the server', async () => {
    const place = await newPlace();
    const quick = await place.open({ queryTimeoutMs: 200 });
    expect(await failure(quick.run({ text: 'select pg_sleep(30)', values: [] }))).to.be.instanceOf(StorageTimeoutError);
    expect(await quick.run({ text: 'select 1', values: [] })).to.deep.equal([['1']]);
    await quick.close();
    expect(await failure(quick.run({ text: 'select 1', values: [] }))).to.be.instanceOf(StorageError);
  });
});

describe('single statements in PGlite', function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  const dataDir = folders.make();
  after(() => folders.removeAll());

  it('wait for a stopped one and run afterwards, once each', async () => {
    const storage = await openStorage({ dataDir, queryTimeoutMs: 2000 });
    await storage.run({ text: 'create table counted (n integer)', values: [] });
    const slow = failure(storage.run({ text: 'select pg_sleep(60)', values: [] }));
    const insert = (n: number): Promise<unknown> =>
      storage.run({ text: 'insert into counted values ($1)', values: [n] });
    const queued = Array.from({ length: 100 }, (_, n) => insert(n));
    expect(await slow).to.be.instanceOf(StorageTimeoutError);
    await Promise.all(queued);
    const rows = await storage.run({ text: 'select count(*), count(distinct n) from counted', values: [] });
    expect(rows).to.deep.equal([['100', '100']]);
    // Together they may take longer than one may; what is under way at the close is finished.
    const sleeps = Array.from({ length: 4 }, () => storage.run({ text: 'select pg_sleep(0.2)', values: [] }));
    const writes = Array.from({ length: 200 }, (_, n) => insert(n + 100));
    await Promise.all([...sleeps, ...writes, storage.close()]);
    expect(await failure(storage.run({ text: 'select 1', values: [] }))).to.be.instanceOf(StorageClosedError);
  });

  it('survive a killed process once acknowledged', async () => {
    const acked = new Set<string>();
    for (const rows of [300, 500]) {
      const child = storageChild(dataDir, 'run');
      expect(await child.line()).to.equal('open');
      for (let row = 0; row < rows; row += 1) acked.add((await child.line()).split(' ')[1] ?? '');
      await child.kill();
    }
    const storage = await openStorage({ dataDir });
    const rows = await storage.run({ text: 'select n from acked', values: [] });
    expect(await storage.run({ text: 'select count(*) from counted', values: [] })).to.deep.equal([['300']]);
    await storage.close();
    const kept = new Set(rows.map(([n]) => n));
    expect([...acked].filter((n) => !kept.has(n))).to.deep.equal([]);
  });
});
