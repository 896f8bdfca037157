/** A cluster is PostgreSQL's word for one data folder. Makes it when it is missing or was never finished. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StorageUnavailableError } from '../errors.ts';
import type { ClusterReply, ClusterWorkerData } from './protocol.ts';

/**
 * Where the finished empty cluster is kept, beside the installed packages: initdb takes 2-3 s of CPU, a copy 0.1 s. The
 * name carries PGlite's version because the version decides the format.
 */
export function templateFolder(): string | undefined {
  const manifest = findPackageJSON('@electric-sql/pglite', import.meta.url);
  if (manifest === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const modules = dirname(dirname(dirname(manifest)));
  return join(modules, '.cache', 'ringmaster', `pglite-${version}`);
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
