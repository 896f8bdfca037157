/** Creates a cluster (PostgreSQL's word for one data folder) when it is missing or unfinished. */
import { fork } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StorageUnavailableError } from '../errors.ts';
import type { StorageLog } from '../storage.ts';
import type { ClusterOrder, ClusterReply, Unpacking } from './protocol.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
const PROCESS = fileURLToPath(new URL('./cluster-process.ts', import.meta.url));

/**
 * Limit of the first attempt in milliseconds. It takes 4 s of CPU, and over a minute beside 30 other busy processes.
 */
const LIMIT_MS = 120_000;
/** Each attempt gets twice the time of the one before: the machine may only be slow. */
const ATTEMPTS = 3;
/** Suffix of an unfinished cluster's folder. */
const UNFINISHED = '.unfinished';
/** Characters kept from the end of the process's error output, to explain a failure. */
const LAST_WORDS = 2000;

/**
 * Archive of the template (the finished cluster without data), beside the installed packages: initdb and the migrations
 * take 4 s of CPU, unpacking 0.1 s. Its name contains PGlite's version, which decides the format, and the hash of what it
 * is made from.
 */
export function templateFile(): string | undefined {
  const manifest = findPackageJSON('@electric-sql/pglite', import.meta.url);
  if (manifest === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const modules = dirname(dirname(dirname(manifest)));
  return join(modules, '.cache', 'ringmaster', `pglite-${version}-${sourcesHash()}.zst`);
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  const migrations = readdirSync(MIGRATIONS).toSorted();
  for (const file of [...migrations.map((name) => join(MIGRATIONS, name)), PROCESS]) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}

/**
 * Creates the cluster in `folder` unless a finished one exists. The caller holds the lock of the data directory. An
 * attempt over its limit is killed, logged as a warning and repeated.
 *
 * @param folder the cluster's folder in an existing parent
 * @param template folder of a template; undefined: none
 * @param limitMs milliseconds for the first attempt
 * @throws StorageUnavailableError when the folder cannot be written, or every attempt exceeded its limit
 */
export async function ensureCluster(
  folder: string,
  template: string | undefined,
  log: StorageLog,
  limitMs = LIMIT_MS,
): Promise<void> {
  if (existsSync(folder)) return;
  removeUnfinished(folder);
  for (let attempt = 1, limit = limitMs; attempt <= ATTEMPTS; attempt += 1, limit *= 2) {
    const id = randomUUID();
    const target = unfinishedName(folder, id);
    const order: ClusterOrder = {
      target,
      template: template === undefined ? undefined : { file: template, unfinished: `${template}.${id}` },
    };
    const reply = await makeCluster(order, limit);
    if (reply?.type === 'made') {
      // Not in that process: once this node is gone, another may already use the folder.
      renameSync(target, folder);
      return;
    }
    const lefts = [target, ...(order.template === undefined ? [] : [order.template.unfinished])];
    for (const left of lefts.flatMap((name) => [name, `${name}.part`])) rmSync(left, { recursive: true, force: true });
    if (reply?.type === 'failed') {
      throw new StorageUnavailableError(
        `The database folder ${folder} cannot be made: ${reply.message}. Check that it is writable and the disk has room.`,
      );
    }
    const fields = { folder, milliseconds: limit, attempt, attempts: ATTEMPTS };
    log.warn(fields, 'making the database took too long; its process was killed');
  }
  throw new StorageUnavailableError(
    `The database folder ${folder} could not be made: each of ${ATTEMPTS} attempts took too long. Check the disk and the load of the machine.`,
  );
}

function unfinishedName(folder: string, id: string): string {
  return `${folder}${UNFINISHED}-${id}`;
}

/** The order to unpack a template, for a missing cluster; undefined when there is nothing to unpack. */
export function unpacking(folder: string, template: string | undefined): Unpacking | undefined {
  if (template === undefined || !existsSync(template)) return undefined;
  removeUnfinished(folder);
  return { file: template, unfinished: unfinishedName(folder, randomUUID()) };
}

/** Removes the leftovers of killed attempts. */
function removeUnfinished(folder: string): void {
  const parent = dirname(folder);
  for (const entry of readdirSync(parent)) {
    if (entry.startsWith(`${basename(folder)}${UNFINISHED}`))
      rmSync(join(parent, entry), { recursive: true, force: true });
  }
}

/** @returns undefined when it exceeded `limitMs` and was killed */
async function makeCluster(order: ClusterOrder, limitMs: number): Promise<ClusterReply | undefined> {
  const child = fork(PROCESS, [JSON.stringify(order)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  const { promise, resolve } = Promise.withResolvers<ClusterReply | undefined>();
  const timer = setTimeout(() => resolve(undefined), limitMs);
  child.once('message', (reply: ClusterReply) => resolve(reply));
  child.once('error', (error) => resolve({ type: 'failed', message: error.message }));
  const gone = once(child, 'close').then(([code, signal]) =>
    resolve({ type: 'failed', message: `its process ended with ${signal ?? `code ${code}`} ${lastWords}`.trimEnd() }),
  );
  const reply = await promise;
  clearTimeout(timer);
  child.kill('SIGKILL');
  // A process that failed to start has no `close` event.
  if (child.pid !== undefined) await gone;
  return reply;
}
