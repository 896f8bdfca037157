import { expect } from 'chai';
import { sql } from 'kysely';
import { SqlError, type Storage, StorageTimeoutError } from '../../runtime/storage/index.ts';
import { describeStorages, failure, withStorage } from './support/storages.ts';

const domain = (id: string) => ({
  id,
  name: `${id}.test`,
  is_master: false,
  parent_id: null,
  opts: '{}',
  ext: '{}',
  lic: '{}',
  security: '{}',
});

describeStorages('storage', (newPlace) => {
  const LIMIT_MS = 1_000;
  const storage = withStorage(newPlace);

  /** With a storage of its own, as only few queries are to have the limit. */
  const limited = async (run: (storage: Storage) => Promise<void>, queryTimeoutMs = LIMIT_MS): Promise<void> => {
    const opened = await (await newPlace()).open({ queryTimeoutMs });
    try {
      await run(opened);
    } finally {
      await opened.close();
    }
  };

  const names = async (): Promise<readonly string[]> => {
    const rows = await storage().db.selectFrom('domains').select('id').orderBy('id').execute();
    return rows.map((row) => row.id);
  };

  it('keeps committed writes, and none of a failed transaction', async () => {
    const { db } = storage();
    await db.transaction().execute((tx) => tx.insertInto('domains').values(domain('kept')).execute());
    await failure(
      db.transaction().execute(async (tx) => {
        await tx.insertInto('domains').values(domain('lost')).execute();
        throw new Error('changed my mind');
      }),
    );
    expect(await names()).to.deep.equal(['kept']);
  });

  it('reports no success for a transaction with an ignored refused statement', async () => {
    const error = await failure(
      storage()
        .db.transaction()
        .execute(async (tx) => {
          await tx.insertInto('domains').values(domain('a')).execute();
          await failure(sql`select 1/0`.execute(tx));
        }),
    );
    expect(error.name).to.equal('AbortedTransactionError');
    expect(await names()).to.deep.equal([]);
  });

  it('rolls back to a savepoint', async () => {
    const tx = await storage().db.startTransaction().execute();
    await tx.insertInto('domains').values(domain('before')).execute();
    const saved = await tx.savepoint('a "quoted" one').execute();
    await saved.insertInto('domains').values(domain('after')).execute();
    await saved.rollbackToSavepoint('a "quoted" one').execute();
    await saved.commit().execute();
    expect(await names()).to.deep.equal(['before']);
  });

  it('runs concurrent queries of a transaction one after another', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    await storage()
      .db.transaction()
      .execute((tx) => Promise.all(ids.map((id) => tx.insertInto('domains').values(domain(id)).execute())));
    expect(await names()).to.deep.equal(ids);
  });

  it('names the constraint of a refused row, with its SQLSTATE', async () => {
    const { db } = storage();
    await db.insertInto('domains').values(domain('a')).execute();
    const twice = await failure(
      db
        .insertInto('domains')
        .values({ ...domain('b'), name: 'A.test' })
        .execute(),
    );
    expect(twice)
      .to.be.instanceOf(SqlError)
      .and.include({ code: '23505', constraint: 'domains_name_key', table: 'domains' });
    const orphan = await failure(
      db
        .insertInto('domains')
        .values({ ...domain('c'), parent_id: 'nobody' })
        .execute(),
    );
    expect(orphan).to.include({ code: '23503', constraint: 'domains_parent_id_fkey' });
  });

  it('stops a query over the limit and serves the next one', () =>
    limited(async ({ db }) => {
      const started = performance.now();
      const endless = failure(sql`select count(*) from generate_series(1, 1000000000)`.execute(db));
      const waiting = sql<{ x: number }>`select 7 as x`.execute(db);
      const error = await endless;
      expect(error).to.be.instanceOf(StorageTimeoutError).and.include({ limitMs: LIMIT_MS });
      expect(performance.now() - started).to.be.within(LIMIT_MS - 20, LIMIT_MS * 5);
      expect((await waiting).rows).to.deep.equal([{ x: 7 }]);
    }));

  it('exempts migrations from the query limit', () =>
    limited(async ({ db }) => {
      const error = await failure(sql`select count(*) from generate_series(1, 1000000000)`.execute(db));
      expect(error).to.be.instanceOf(StorageTimeoutError).and.include({ limitMs: 1 });
    }, 1));

  it('rolls back a transaction whose query exceeded the limit, and refuses its further queries', () =>
    limited(async ({ db }) => {
      const error = await failure(
        db.transaction().execute(async (tx) => {
          await tx.insertInto('domains').values(domain('half')).execute();
          await failure(sql`select count(*) from generate_series(1, 1000000000)`.execute(tx));
          await tx.insertInto('domains').values(domain('other half')).execute();
        }),
      );
      expect(error.name).to.be.oneOf(['StorageTimeoutError', 'SqlError']);
      expect(await db.selectFrom('domains').select('id').execute()).to.deep.equal([]);
    }));

  it('keeps all data when closed and opened again', async () => {
    const place = await newPlace();
    const first = await place.open();
    await first.db.insertInto('domains').values(domain('kept')).execute();
    await Promise.all([first.close(), first.close()]);
    const second = await place.open();
    const rows = await second.db.selectFrom('domains').select(['id', 'opts']).execute();
    await second.close();
    expect(rows).to.deep.equal([{ id: 'kept', opts: {} }]);
  });
});
