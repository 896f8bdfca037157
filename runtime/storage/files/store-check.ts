/** Warns when the nodes of a database use different file stores: each store lacks the files of the others. */
import { sql } from '../sql.ts';
import type { Storage } from '../storage.ts';
import { type FileStore, FileStoreError, type StorePlace } from './file-store.ts';

/** Notes this node's file store in the database. Warns when other nodes, or this node earlier, used another. */
export async function checkFileStore(storage: Storage, files: FileStore): Promise<void> {
  const { db, log, notices } = storage;
  let place: StorePlace;
  try {
    place = await files.place();
  } catch (err) {
    // Calls work without a file store.
    if (!(err instanceof FileStoreError)) throw err;
    log.warn({ err }, 'the file store cannot be used: attachments and avatars will be refused');
    return;
  }
  const { id, location } = place;
  const { rows } = await sql<{ location: string }>`
    select location from file_stores where id <> ${id} order by location`.execute(db);
  const others = rows.map((row) => row.location);
  // The entries of earlier nodes are obsolete.
  if (notices.wasAlone) await sql`delete from file_stores where id <> ${id}`.execute(db);
  await sql`
    insert into file_stores (id, location) values (${id}, ${location})
    on conflict (id) do update set location = excluded.location`.execute(db);
  if (others.length === 0) return;
  log.warn(
    { here: location, others },
    notices.wasAlone
      ? 'attachments and avatars were kept in another file store before, and are not found in this one; copy them'
      : 'other nodes of this database keep attachments and avatars in another file store: no node finds the files of ' +
          'the other; give all nodes the same RINGMASTER_FILES, or share the folder',
  );
}
