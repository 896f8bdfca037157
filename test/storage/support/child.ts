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
  // Eight writers past kysely, as requests come.
  const writer = async (from: number): Promise<void> => {
    for (let n = from; ; n += 8) {
      await storage.run({ text: 'insert into acked values ($1) on conflict do nothing', values: [n] });
      say(`acked ${n}`);
    }
  };
  if (mode === 'run') await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(writer));
  for (let n = 1; mode === 'write'; n++) {
    await sql`insert into acked values (${n}) on conflict do nothing`.execute(storage.db);
    say(`acked ${n}`);
  }
} catch (error) {
  if (!(error instanceof StorageLockedError)) throw error;
  say(`locked ${error.pid}`);
}
