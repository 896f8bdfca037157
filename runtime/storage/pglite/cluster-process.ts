/**
 * Process that creates a database cluster. It frees the 400 MB of initdb at its end, and can be killed reliably, unlike
 * a thread that hangs in V8. Its argument is a `ClusterOrder` as JSON. Synchronous file calls on purpose: nothing else
 * runs here.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import type { PGlite } from '@electric-sql/pglite';
import type { Schema } from '../schema.ts';
import { pack, unpack } from './archive.ts';
import type { ClusterOrder, ClusterReply } from './protocol.ts';

/** 1 MB write-ahead log segments: a fresh cluster is 10 MB smaller. */
const INITDB = ['--wal-segsize=1'];

/** @param prepare work in the fresh cluster */
async function initdb(folder: string, prepare?: (pglite: PGlite) => Promise<void>): Promise<void> {
  // Imported here only: with a template the engine is not needed.
  const { PGlite } = await import('@electric-sql/pglite');
  const db = await PGlite.create({ dataDir: folder, initDbStartParams: INITDB });
  await prepare?.(db);
  await db.exec('checkpoint');
  await db.close();
}

/** Applies the migrations once for all later clusters, which need no databases to copy: half of the files and bytes. */
async function migrated(pglite: PGlite): Promise<void> {
  const { Kysely, PGliteDialect } = await import('kysely');
  const { migrate } = await import('../migrations/index.ts');
  await migrate(new Kysely<Schema>({ dialect: new PGliteDialect({ pglite }) }));
  await pglite.exec("update pg_database set datistemplate = false, datallowconn = true where datname like 'template_'");
  for (const name of ['template0', 'template1']) await pglite.exec(`drop database ${name}`);
}

/** Age of leftovers from killed processes; a live process needs seconds. */
function removeAbandoned(template: string): void {
  const parent = dirname(template);
  for (const entry of readdirSync(parent)) {
    const path = join(parent, entry);
    const abandoned = entry.startsWith(`${basename(template)}.`) && statSync(path).mtimeMs < Date.now() - 600_000;
    if (abandoned) rmSync(path, { recursive: true, force: true });
  }
}

/** Only a finished template gets the final name: an interrupted one keeps a temporary name and is redone. */
async function makeTemplate(template: string, unfinished: string): Promise<boolean> {
  try {
    mkdirSync(dirname(template), { recursive: true });
    removeAbandoned(template);
    await initdb(unfinished, migrated);
    pack(unfinished, template, `${unfinished}.part`);
    return true;
  } catch {
    // A read-only installation: the caller continues without a template. A failing migration fails there again and is
    // reported.
    return existsSync(template);
  } finally {
    for (const left of [unfinished, `${unfinished}.part`]) rmSync(left, { recursive: true, force: true });
  }
}

/**
 * @returns false for a missing or damaged template; the latter is removed
 * @throws errors of the file system
 */
function unpacked(template: string, target: string): boolean {
  if (!existsSync(template)) return false;
  try {
    unpack(template, target, `${target}.part`);
    return true;
  } catch (error) {
    // Errors of the file system have codes such as ENOSPC.
    if (/^E[A-Z]+$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    rmSync(template, { force: true });
    return false;
  }
}

async function make({ target, template }: ClusterOrder): Promise<ClusterReply> {
  if (template !== undefined && unpacked(template.file, target)) return { type: 'made' };
  const isMade = template !== undefined && (await makeTemplate(template.file, template.unfinished));
  if (!(isMade && unpacked(template.file, target))) await initdb(target);
  return { type: 'made' };
}

// The node is gone and nobody waits for the cluster. Exits at once: an orderly exit waits for V8's helper threads.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
let reply: ClusterReply;
try {
  reply = await make(JSON.parse(process.argv[2] ?? '{}') as ClusterOrder);
} catch (error) {
  reply = { type: 'failed', message: error instanceof Error ? error.message : String(error) };
}
// The node kills this process after the reply.
process.send?.(reply);
