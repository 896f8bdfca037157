/**
 * Inserts many entities in sets: one statement each would take tens of times as long. On PGlite, others wait for the
 * transaction. A staging table was measured: the remaining wait was two thirds to four fifths of this one, and the
 * whole took up to 1.5 times as long.
 */
import { type Fragment, sql, SqlError } from '../../storage/index.ts';
import { ofSeveral } from '../errors.ts';
import type { Entity } from '../fields.ts';
import { Slices } from '../memory/slices.ts';
import type { StoredClass } from '../stored-class.ts';
import { type Db, insertEntity } from './entity-statements.ts';
import { columnName, sqlType, tableOf } from './names.ts';
import { fieldsReader, type Row, shapeOf } from './rows.ts';

/** Entities per statement. */
const SET = 2_500;

/** An entity and its row as JSON. */
export interface NewRow {
  readonly entity: Entity;
  readonly json: string;
}

/** Rows for the database. Made before the transaction, because on PGlite all others wait for it. */
export async function makeRows(stored: StoredClass, entities: readonly Entity[]): Promise<readonly NewRow[]> {
  const columns = givenColumns(stored);
  const slices = await Slices.begin();
  const rows: NewRow[] = [];
  for (const entity of entities) {
    const fields = columns.map(({ name, column }) => [column, entity[name]] as const);
    rows.push({ entity, json: JSON.stringify(Object.fromEntries([['id', entity.id], ...fields])) });
    if (slices.isOver) await slices.pause();
  }
  return rows;
}

/**
 * Inserts entities in a transaction.
 *
 * @returns the stored entities, in order
 * @throws ConflictError and InvalidFieldError with the index of the entity before the field
 */
export async function insertRows(tx: Db, stored: StoredClass, rows: readonly NewRow[]): Promise<readonly Entity[]> {
  const written: Entity[] = [];
  for (let from = 0; from < rows.length; from += SET) {
    written.push(...(await insertFrom(tx, stored, rows.slice(from, from + SET), from)));
  }
  return written;
}

/** Inserts the rows whose id is new on their day, by one statement for each set. @throws SqlError for a refused row */
export async function appendRows(db: Db, stored: StoredClass, rows: readonly NewRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += SET) {
    await sql`${insertOf(stored, rows.slice(from, from + SET))} on conflict do nothing`.execute(db);
  }
}

/** Halves a refused set until one entity remains: the first faulty one. */
async function insertFrom(
  tx: Db,
  stored: StoredClass,
  set: readonly NewRow[],
  first: number,
): Promise<readonly Entity[]> {
  const [only] = set;
  if (set.length === 1 && only !== undefined) {
    return [await ofSeveral(first, () => insertEntity(tx, stored, only.entity))];
  }
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

function insertOf(stored: StoredClass, set: readonly NewRow[]): Fragment {
  const columns = givenColumns(stored);
  const names = sql.join(['id', ...columns.map(({ column }) => column)].map((column) => sql.id(column)));
  const types = sql.raw(['id text', ...columns.map(({ column, type }) => `${column} ${type}`)].join(', '));
  const json = `[${set.map((row) => row.json).join(',')}]`;
  return sql`insert into ${tableOf(stored)} (${names})
    select ${names} from json_to_recordset(${json}::json) as given (${types})`;
}

async function insertSet(tx: Db, stored: StoredClass, set: readonly NewRow[]): Promise<readonly Entity[]> {
  const { changed } = shapeOf(stored);
  const insert = insertOf(stored, set);
  if (changed.columns.length === 0) {
    await insert.execute(tx);
    return set.map(({ entity }) => entity);
  }
  // Selecting whole rows would take longer than the insert.
  const { rows } = await sql<Row>`${insert} returning ${changed.sql}`.execute(tx);
  const read = fieldsReader(stored, changed.columns);
  return set.map(({ entity }, index) => {
    const row = rows[index];
    if (row === undefined) throw new Error(`The insert into ${stored.classname} returned too few rows.`);
    return { ...entity, ...read(row) };
  });
}

/** Columns with given values: an absent increment takes its default, the next number. */
function givenColumns(
  stored: StoredClass,
): readonly { readonly name: string; readonly column: string; readonly type: string }[] {
  return stored.allProperties
    .filter(({ data_type: type }) => type !== 'increment')
    .map((property) => {
      const [type = ''] = sqlType(property).split(' ');
      return { name: property.name, column: columnName(stored, property.name), type };
    });
}
