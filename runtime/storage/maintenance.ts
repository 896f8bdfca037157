/**
 * PGlite runs PostgreSQL's single-user mode, which has neither checkpointer nor autovacuum: without this the log grows until
 * the node stops, recovery after a crash takes ever longer, and updated rows leave their old versions behind.
 */
import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';
import type { StorageLog } from './storage.ts';

export interface Maintenance {
  stop(): Promise<void>;
}

/** Bytes of log since the last checkpoint that make another worth its time. */
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;

/**
 * Does what is due. Returns whether anything was.
 *
 * @param afterBytes log since the last checkpoint that is worth another
 */
export async function maintain(db: Kysely<Schema>, afterBytes = CHECKPOINT_AFTER_BYTES): Promise<boolean> {
  const { rows } = await sql<{ bytes: number }>`
    select (pg_current_wal_lsn() - redo_lsn)::bigint as bytes from pg_control_checkpoint()`.execute(db);
  if ((rows[0]?.bytes ?? 0) < afterBytes) return false;
  await sql`vacuum analyze`.execute(db);
  await sql`checkpoint`.execute(db);
  return true;
}

/** Looks once every `intervalMs` whether enough was written. */
export function startMaintenance(db: Kysely<Schema>, log: StorageLog, intervalMs = 60_000): Maintenance {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = maintain(db).then(
      (done) => log.debug({ done }, 'storage maintenance'),
      (error: unknown) => log.warn({ err: error }, 'storage maintenance failed'),
    );
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
