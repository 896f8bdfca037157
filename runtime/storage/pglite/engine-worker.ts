/** Worker thread with the PGlite instance: a long query blocks this thread, never a call. */
import { PGlite } from '@electric-sql/pglite';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { giveBackAtRest } from '../../memory/index.ts';
import type { SqlErrorFields } from '../errors.ts';
import { OID, decoders } from '../values.ts';
import { unpack } from './archive.ts';
import { Engine } from './pglite.ts';
import { compilePostgres } from './postgres-module.ts';
import { Progress } from './progress.ts';
import type { EngineReply, EngineRequest, EngineWorkerData } from './protocol.ts';

if (parentPort === null) throw new Error('engine-worker.ts must be started as a worker thread.');
const port = parentPort;
const { directory, template, progress: memory } = workerData as EngineWorkerData;
const progress = new Progress(memory);

/** Parameters arrive encoded, so the serializers must not change them. */
const asIs = (text: string): string => text;
const serializers = Object.fromEntries(Object.values(OID).map((oid) => [oid, asIs]));

/**
 * PGlite fills all buffers with zeros when it opens. Lists and single rows of a table of 120 MB are as fast as with 64 MB,
 * because the system caches the files. `ANALYZE` holds up all other statements: with 9,000 rows of each table as its sample it takes a
 * quarter of the time that it needs for the 30,000 of the default, and queries of a million rows are as fast.
 */
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB', '-c', 'default_statistics_target=30'];

/** Statements since the last look of the memory at rest. */
let statements = 0;

function reply(message: EngineReply): void {
  port.postMessage(message);
}

function describe(error: unknown): SqlErrorFields {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields = error as Error & Omit<SqlErrorFields, 'message'>;
  return {
    message: fields.message,
    code: fields.code,
    detail: fields.detail,
    hint: fields.hint,
    position: fields.position,
    table: fields.table,
    column: fields.column,
    constraint: fields.constraint,
  };
}

async function query(db: PGlite, sql: string, parameters: readonly (string | null)[]): Promise<EngineReply> {
  try {
    const { rows, affectedRows, command } = await db.query(sql, [...parameters]);
    return { type: 'result', result: { rows, affectedRows, command } };
  } catch (error) {
    return { type: 'refused', error: describe(error) };
  }
}

/** Milliseconds that finished replies may wait for later ones of the same message. */
const HOLD_MS = 2;

/**
 * Runs single statements one after another. PGlite's own `query` would need five round trips per statement and parse
 * the replies in this thread.
 */
function run(db: PGlite, bytes: Uint8Array, ends: readonly number[]): void {
  let replies: Uint8Array[] = [];
  const send = (): void => {
    const message: EngineReply = { type: 'ran', replies };
    port.postMessage(
      message,
      replies.map(({ buffer }) => buffer as ArrayBuffer),
    );
    replies = [];
  };
  let since = performance.now();
  let start = 0;
  for (const end of ends) {
    progress.begin();
    replies.push(db.execProtocolRawSync(bytes.subarray(start, end)));
    start = end;
    if (performance.now() - since < HOLD_MS) continue;
    send();
    since = performance.now();
  }
  if (replies.length > 0) send();
}

/** @returns what prevented it */
function unpackTemplate(): string | undefined {
  if (template === undefined || existsSync(directory)) return undefined;
  try {
    unpack(template.file, directory, template.unfinished);
    return undefined;
  } catch (error) {
    return `its template cannot be unpacked: ${describe(error).message}`;
  }
}

async function open(): Promise<void> {
  const problem = unpackTemplate();
  if (problem !== undefined) return reply({ type: 'unopened', message: problem });
  // PGlite would create an empty cluster in a missing folder; lost data must not look like an empty database.
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    reply({ type: 'unopened', message: 'the folder contains no database cluster' });
    return;
  }
  let db: PGlite;
  try {
    // PostgreSQL refuses one that a process killed while opening left empty. The folder has a lock of its own (lock.ts).
    rmSync(join(directory, 'postmaster.pid'), { force: true });
    const pgliteWasmModule = compilePostgres();
    db = new Engine({ dataDir: directory, parsers: decoders, serializers, startParams, pgliteWasmModule });
    await db.waitReady;
  } catch (error) {
    reply({ type: 'unopened', message: describe(error).message });
    return;
  }
  giveBackAtRest(
    () => {
      const works = statements > 0;
      statements = 0;
      return works;
    },
    // Its start ends with statements, and none of them leaves anything behind.
    { afterStartMs: 5000, afterWorkMs: 5000 },
  );
  port.on('message', (request: EngineRequest) => {
    statements += 1;
    if (request.type === 'query') {
      void query(db, request.sql, request.parameters).then(reply);
    } else if (request.type === 'run') {
      run(db, request.bytes, request.ends);
    } else {
      void db.close().then(() => {
        reply({ type: 'closed' });
        port.close();
      });
    }
  });
  reply({ type: 'ready' });
}

await open();
