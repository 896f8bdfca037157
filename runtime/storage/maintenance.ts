/**
 * Checkpoints and vacuums PGlite. It runs PostgreSQL's single-user mode, without checkpointer and autovacuum: the log
 * would grow until the stop, recovery after a crash would take ever longer, and dead rows would remain.
 */
import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';
import type { StorageLog } from './storage.ts';

export interface Maintenance {
  stop(): Promise<void>;
}

/** Bytes of log after which a checkpoint is due. */
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;

/**
 * Runs due maintenance. Returns true when any was due.
 *
 * @param afterBytes bytes of log after which a checkpoint is due
 */
export async function maintain(db: Kysely<Schema>, afterBytes = CHECKPOINT_AFTER_BYTES): Promise<boolean> {
  const { rows } = await sql<{ bytes: number }>`
    select (pg_current_wal_lsn() - redo_lsn)::bigint as bytes from pg_control_checkpoint()`.execute(db);
  if ((rows[0]?.bytes ?? 0) < afterBytes) return false;
  await sql`vacuum analyze`.execute(db);
  await sql`checkpoint`.execute(db);
  return true;
}

/** Checks every `intervalMs` whether maintenance is due. */
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
