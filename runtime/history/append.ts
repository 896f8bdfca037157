/** Writes records of the past in sets. */
import { ClassChangingError, type Input, type ModelCollection } from '../model/index.ts';
import { SqlError, StorageError } from '../storage/index.ts';

/** SQLSTATE classes of a server that cannot write now: read-only, rolled back, out of resources, locked, stopped. */
const FOR_NOW = /^(?:25|40|53|55|57|58)/;

/**
 * Appends records to the class of a domain. A record that the database refuses is a fault of this node: it must not hold up
 * the others, so it is reported and left out.
 *
 * @param open the class, created if missing
 * @param lost called for a refused record, or with undefined when the class cannot be opened
 * @throws errors of a database that may take the records later; none or some of them are written then
 */
export async function appendRecords<Record extends Input>(
  open: () => Promise<Pick<ModelCollection, 'append'>>,
  records: readonly Record[],
  lost: (error: unknown, record: Record | undefined) => void,
): Promise<void> {
  let collection: Pick<ModelCollection, 'append'>;
  try {
    collection = await open();
  } catch (error) {
    if (isForNow(error)) throw error;
    lost(error, undefined);
    return;
  }
  try {
    await collection.append(records);
  } catch (all) {
    if (isForNow(all)) throw all;
    for (const record of records) {
      try {
        await collection.append([record]);
      } catch (error) {
        if (isForNow(error)) throw error;
        lost(error, record);
      }
    }
  }
}

/** Whether a later attempt may succeed. */
function isForNow(error: unknown): boolean {
  if (error instanceof SqlError) return FOR_NOW.test(error.code);
  return error instanceof StorageError || error instanceof ClassChangingError;
}
