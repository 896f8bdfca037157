import { expect } from 'chai';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { StorageMigrationError, StorageUnavailableError, openStorage } from '../../runtime/storage/index.ts';
import { migrateToLatest, migrations } from '../../runtime/storage/migrations/index.ts';
import { postgresServer } from './support/postgres-server.ts';
import { describePostgres, describeStorages, failure, withStorage } from './support/storages.ts';

describeStorages('migrations', (newPlace) => {
  const storage = withStorage(newPlace);

  it('are all applied, once', async () => {
    const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
      storage().db,
    );
    expect(rows.map((row) => row.name)).to.deep.equal(Object.keys(migrations));
    expect(await migrateToLatest(storage().db)).to.deep.equal([]);
  });

  it('create every table the schema names', async () => {
    const tables = await storage().db.introspection.getTables();
    const names = tables.map((table) => table.name).filter((name) => !name.startsWith('schema_'));
    expect(names.toSorted()).to.deep.equal([
      'agents',
      'change_notices',
      'cluster_starts',
      'domains',
      'featurecodes',
      'file_stores',
      'first_answers',
      'ivrscript_versions',
      'ivrscripts',
      'model_classes',
      'model_memory',
      'model_memory_unique',
      'model_suspect_files',
      'prompts',
      'providers',
      'recordingrules',
      'recordings',
      'registrations',
      'roles',
      'routes',
      'scenario_figures',
      'scenario_file_versions',
      'script_modules',
      'sessions',
      'settings',
      'sipusers',
      'subscriptions',
      'svcscript_versions',
      'svcscripts',
      'users',
      'voice_messages',
      'waiting_runs',
      'webapps',
      'webhook_deliveries',
      'webhooks',
    ]);
  });

  it('correct the path in the demo role of older stores', async () => {
    const { db } = storage();
    await sql`insert into domains (id, name) values ('d', 'd.local')`.execute(db);
    const grants = JSON.stringify([
      { path: '/uc/calls/**', methods: ['*'] },
      { path: '/uc/calls_by_participation/**', methods: ['GET'] },
    ]);
    await sql`insert into roles (id, domain_id, code, grants) values ('r', 'd', 'user', ${grants}::jsonb)`.execute(db);
    await migrations['0015-user-role']?.up(db);
    const { rows } = await sql<{ grants: unknown }>`select grants from roles`.execute(db);
    expect(rows[0]?.grants).to.deep.equal([
      { path: '/uc/calls/**', methods: ['*'] },
      { path: '/uc/conferences_by_participation/**', methods: ['GET'] },
    ]);
  });

  it('make ids unique per day in the partitions of older stores, except where duplicates exist', async () => {
    const { db } = storage();
    await sql`create table model.c_900 (id text, p_7 bigint, primary key (p_7, id)) partition by range (p_7)`.execute(
      db,
    );
    await sql`create table model.c_900_197001 partition of model.c_900 for values from (0) to (1000)`.execute(db);
    await sql`create table model.c_900_197002 partition of model.c_900 for values from (1000) to (2000)`.execute(db);
    await sql`insert into model.c_900 values ('a', 1), ('b', 1), ('b', 2), ('a', 1001)`.execute(db);
    await migrations['0018-day-ids']?.up(db);
    const inserted = failure(sql`insert into model.c_900 values ('a', 1002)`.execute(db));
    expect(await inserted).to.include({ constraint: 'd_900_197002' });
    await sql`insert into model.c_900 values ('b', 3)`.execute(db);
    await sql`drop table model.c_900`.execute(db);
  });

  it('are rolled back when one fails, and the error names it', async () => {
    const broken: Migration = {
      async up(db) {
        await sql`create table half_made (x integer)`.execute(db);
        await sql`select 1/0`.execute(db);
      },
    };
    const error = await failure(migrateToLatest(storage().db, { ...migrations, '9999-broken': broken }));
    expect(error).to.be.instanceOf(StorageMigrationError).and.include({ migration: '9999-broken' });
    expect(error.message).to.include('division by zero');
    const tables = await storage().db.introspection.getTables();
    expect(tables.map((table) => table.name)).not.to.include('half_made');
  });

  it('refuse a database that a newer release has migrated', async () => {
    const { db } = storage();
    await sql`insert into schema_migrations (name, timestamp) values ('9999-next', '')`.execute(db);
    const error = await failure(migrateToLatest(db));
    await sql`delete from schema_migrations where name = '9999-next'`.execute(db);
    expect(error).to.be.instanceOf(StorageMigrationError);
    expect(error.message).to.include('9999-next');
  });
});

describePostgres('nodes that start at once', (newPlace) => {
  it('each find a migrated database', async () => {
    const empty = await newPlace();
    const nodes = await Promise.all([1, 2, 3, 4, 5].map(() => empty.open()));
    const users = await Promise.all(nodes.map((node) => node.db.selectFrom('users').selectAll().execute()));
    await Promise.all(nodes.map((node) => node.close()));
    expect(users).to.deep.equal([[], [], [], [], []]);
  });
});

describePostgres('a PostgreSQL server that refuses the connection', () => {
  it('is named, with the reason and what to check', async () => {
    const url = new URL((await (await postgresServer())?.createDatabase()) ?? '');
    url.pathname = '/missing';
    const error = await failure(openStorage({ dataDir: 'unused', databaseUrl: url.href }));
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.equal(
      `PostgreSQL at 127.0.0.1:${url.port}/missing cannot be reached: database "missing" does not exist. Check DATABASE_URL and the server.`,
    );
  });
});

describe('an unreachable PostgreSQL server', () => {
  it('is reported without its password', async () => {
    const error = await failure(openStorage({ dataDir: 'unused', databaseUrl: 'postgres://me:secret@127.0.0.1:1/db' }));
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.include('127.0.0.1:1/db').and.not.include('secret');
  });

  it('is refused for an invalid URL', async () => {
    const error = await failure(openStorage({ dataDir: 'unused', databaseUrl: 'secret@host' }));
    expect(error).to.be.instanceOf(StorageUnavailableError);
    expect(error.message).to.include('DATABASE_URL').and.not.include('secret');
  });
});
