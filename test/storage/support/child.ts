/** A storage in a process of its own, to be killed. Says `open`, then `acked N` after each committed row; `locked PID`. */
import { sql } from 'kysely';
import { StorageLockedError, openStorage } from '../../../runtime/storage/index.ts';

const [dataDir = '', mode = 'write'] = process.argv.slice(2);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  const storage = await openStorage({ dataDir });
  await sql`create table if not exists acked (n integer primary key)`.execute(storage.db);
  say('open');
  if (mode === 'hold') process.stdin.resume();
  for (let n = 1; mode === 'write'; n++) {
    await sql`insert into acked values (${n}) on conflict do nothing`.execute(storage.db);
    say(`acked ${n}`);
  }
} catch (error) {
  if (!(error instanceof StorageLockedError)) throw error;
  say(`locked ${error.pid}`);
}
