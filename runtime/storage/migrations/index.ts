/** The migrations in order. A released migration is never edited; write a new one instead. */
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { SQLSTATE, SqlError, StorageMigrationError, StorageUnavailableError } from '../errors.ts';
import type { Schema } from '../schema.ts';
import { domainCenter } from './0001-domain-center.ts';
import { iam } from './0002-iam.ts';
import { registrations } from './0003-registrations.ts';
import { settings } from './0004-settings.ts';
import { model } from './0005-model.ts';
import { changeNotices } from './0006-change-notices.ts';
import { trunksAndRecording } from './0007-trunks-and-recording.ts';
import { scripts } from './0008-scripts.ts';
import { gateways } from './0009-gateways.ts';
import { recordings } from './0010-recordings.ts';
import { modelFiles } from './0011-model-files.ts';
import { textOrder } from './0012-text-order.ts';
import { firstAnswers } from './0013-first-answers.ts';
import { modelMemory } from './0014-model-memory.ts';
import { userRole } from './0015-user-role.ts';
import { sipServer } from './0016-sip-server.ts';
import { filterFunctions } from './0017-filter-functions.ts';
import { dayIds } from './0018-day-ids.ts';
import { jsonKeys } from './0019-json-keys.ts';
import { lockedUsers } from './0020-locked-users.ts';
import { classShapes } from './0021-class-shapes.ts';
import { fileStores } from './0022-file-stores.ts';
import { registeredSince } from './0023-registered-since.ts';
import { webhooks } from './0024-webhooks.ts';
import { scriptDrafts } from './0028-script-drafts.ts';
import { scenarioVersionsAndFigures } from './0029-scenario-versions-and-figures.ts';
import { agents } from './0031-agents.ts';
import { prompts } from './0032-prompts.ts';
import { scriptModules } from './0033-script-modules.ts';
import { mailboxesAndSubscriptions } from './0035-mailboxes-and-subscriptions.ts';
import { paths } from './0036-paths.ts';
import { carriers } from './0038-carriers.ts';
import { cluster } from './0042-cluster.ts';
import { waitingRuns } from './0045-waiting-runs.ts';
import { claims } from './0052-claims.ts';

const TABLE = 'schema_migrations';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-domain-center': domainCenter,
  '0002-iam': iam,
  '0003-registrations': registrations,
  '0004-settings': settings,
  '0005-model': model,
  '0006-change-notices': changeNotices,
  '0007-trunks-and-recording': trunksAndRecording,
  '0008-scripts': scripts,
  '0009-gateways': gateways,
  '0010-recordings': recordings,
  '0011-model-files': modelFiles,
  '0012-text-order': textOrder,
  '0013-first-answers': firstAnswers,
  '0014-model-memory': modelMemory,
  '0015-user-role': userRole,
  '0016-sip-server': sipServer,
  '0017-filter-functions': filterFunctions,
  '0018-day-ids': dayIds,
  '0019-json-keys': jsonKeys,
  '0020-locked-users': lockedUsers,
  '0021-class-shapes': classShapes,
  '0022-file-stores': fileStores,
  '0023-registered-since': registeredSince,
  '0024-webhooks': webhooks,
  '0028-script-drafts': scriptDrafts,
  '0029-scenario-versions-and-figures': scenarioVersionsAndFigures,
  '0031-agents': agents,
  '0032-prompts': prompts,
  '0033-script-modules': scriptModules,
  '0035-mailboxes-and-subscriptions': mailboxesAndSubscriptions,
  '0036-paths': paths,
  '0038-carriers': carriers,
  '0042-cluster': cluster,
  '0045-waiting-runs': waitingRuns,
  '0052-claims': claims,
};

/** Names of the applied migrations; empty without a migration table. */
async function appliedNames(db: Kysely<Schema>): Promise<readonly string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)} order by name`.execute(db);
    return rows.map((row) => row.name);
  } catch (error) {
    if (error instanceof SqlError && error.code === SQLSTATE.undefinedTable) return [];
    throw error;
  }
}

/**
 * Migrates the database to the newest version. Several nodes may do so at once: kysely's migrator holds an advisory
 * lock.
 *
 * @throws StorageUnavailableError when the database cannot be opened or reached
 * @throws StorageMigrationError naming the failed migration; it is rolled back
 */
export async function migrateToLatest(
  db: Kysely<Schema>,
  provided: Readonly<Record<string, Migration>> = migrations,
): Promise<readonly string[]> {
  // The usual start: kysely's migrator would spend 300 ms reading the catalog.
  const applied = await appliedNames(db);
  if (applied.join() === Object.keys(provided).toSorted().join()) return [];
  return await migrate(db, provided);
}

/**
 * Applies the pending migrations.
 *
 * @returns their names
 * @throws as `migrateToLatest` does
 */
export async function migrate(
  db: Kysely<Schema>,
  provided: Readonly<Record<string, Migration>> = migrations,
): Promise<readonly string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...provided }) },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error instanceof StorageUnavailableError) throw error;
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName;
    throw new StorageMigrationError(failed ?? 'set-up', { cause: error });
  }
  return (results ?? []).map((result) => result.migrationName);
}
