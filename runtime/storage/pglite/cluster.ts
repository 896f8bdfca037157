/** A cluster is PostgreSQL's word for one data folder. Makes it when it is missing or was never finished. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StorageUnavailableError } from '../errors.ts';
import type { ClusterReply, ClusterWorkerData } from './protocol.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

/**
 * Where the finished cluster without data is kept, beside the installed packages: initdb and the migrations take 4 s of CPU, a
 * copy 0.1 s. The name carries PGlite's version, which decides the format, and the migrations' hash.
 */
export function templateFolder(): string | undefined {
  const manifest = findPackageJSON('@electric-sql/pglite', import.meta.url);
  if (manifest === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const modules = dirname(dirname(dirname(manifest)));
  return join(modules, '.cache', 'ringmaster', `pglite-${version}-${migrationsHash()}`);
}

function migrationsHash(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(MIGRATIONS).toSorted()) hash.update(readFileSync(join(MIGRATIONS, file)));
  return hash.digest('hex').slice(0, 12);
}

/**
 * Makes the cluster in `folder` unless a finished one is there. The caller holds the lock of the data directory.
 *
 * @param folder the cluster's folder; its parent exists
 * @param template where a template is kept; undefined: none
 * @throws StorageUnavailableError when the folder cannot be written
 */
export async function ensureCluster(folder: string, template: string | undefined): Promise<void> {
  if (existsSync(folder)) return;
  const data: ClusterWorkerData = { target: folder, template };
  const worker = new Worker(new URL('./cluster-worker.ts', import.meta.url), { workerData: data });
  const [reply] = (await once(worker, 'message')) as [ClusterReply];
  await worker.terminate();
  if (reply.type === 'failed') {
    throw new StorageUnavailableError(
      `The database folder ${folder} cannot be made: ${reply.message}. Check that it is writable and the disk has room.`,
    );
  }
}
