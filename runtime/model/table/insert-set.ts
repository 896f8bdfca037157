/** Many new entities, written in sets: one statement for each would take tens of times as long. */
import { SqlError } from '../../storage/index.ts';
import { sql } from '../../storage/sql.ts';
import { ofSeveral } from '../errors.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';
import { type Db, insertEntity } from './entity-statements.ts';
import { columnName, sqlType, tableOf } from './names.ts';
import { entityReader, type Row, selection, shapeOf } from './rows.ts';

/** Entities of one statement. */
const SET = 1_000;

/**
 * Inserts entities, in a transaction.
 *
 * @returns them as they are kept, in their order
 * @throws ConflictError and InvalidFieldError, the index of the entity before the field
 */
export async function insertEntities(
  tx: Db,
  stored: StoredClass,
  entities: readonly Entity[],
): Promise<readonly Entity[]> {
  const written: Entity[] = [];
  for (let from = 0; from < entities.length; from += SET) {
    written.push(...(await insertFrom(tx, stored, entities.slice(from, from + SET), from)));
  }
  return written;
}

/** A set that is refused is halved until it is one entity: the first that is at fault. */
async function insertFrom(
  tx: Db,
  stored: StoredClass,
  set: readonly Entity[],
  first: number,
): Promise<readonly Entity[]> {
  const [only] = set;
  if (set.length === 1 && only !== undefined) return [await ofSeveral(first, () => insertEntity(tx, stored, only))];
  await sql`savepoint entities`.execute(tx);
  try {
    const written = await insertSet(tx, stored, set);
    await sql`release savepoint entities`.execute(tx);
    return written;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    await sql`rollback to savepoint entities`.execute(tx);
  }
  const half = Math.ceil(set.length / 2);
  const before = await insertFrom(tx, stored, set.slice(0, half), first);
  return [...before, ...(await insertFrom(tx, stored, set.slice(half), first + half))];
}

async function insertSet(tx: Db, stored: StoredClass, set: readonly Entity[]): Promise<readonly Entity[]> {
  // An increment takes its default, the next number.
  const given = stored.allProperties.filter(({ data_type: type }) => type !== 'increment');
  const columns = given.map((property) => {
    const [type = ''] = sqlType(property).split(' ');
    return { name: property.name, column: columnName(stored, property.name), type };
  });
  const names = sql.join(['id', ...columns.map(({ column }) => column)].map((column) => sql.id(column)));
  const types = sql.raw(['id text', ...columns.map(({ column, type }) => `${column} ${type}`)].join(', '));
  const rows = set.map((entity) =>
    Object.fromEntries([['id', entity.id], ...columns.map(({ name, column }) => [column, entity[name]])]),
  );
  const { isKeptAsGiven } = shapeOf(stored);
  const insert = sql`insert into ${tableOf(stored)} (${names})
    select ${names} from json_to_recordset(${JSON.stringify(rows)}::json) as given (${types})`;
  if (isKeptAsGiven) {
    await insert.execute(tx);
    return set;
  }
  const { rows: kept } = await sql<Row>`${insert} returning ${selection(stored)}`.execute(tx);
  return kept.map(entityReader(stored));
}
