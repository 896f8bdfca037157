/** SQL statements about one entity: one function each. */
import type { Kysely } from 'kysely';
import { type Schema, sql, SqlError, SQLSTATE, type TextRow } from '../../storage/index.ts';
import { ConflictError, InvalidFieldError } from '../errors.ts';
import type { Fragment } from '../filter/index.ts';
import type { Entity } from '../fields.ts';
import { isManaged } from '../property-value.ts';
import type { Interval } from '../query.ts';
import { timeProperty } from '../resolve-class.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnValue } from './definition.ts';
import { columnName, columnOf, propertyOfIndex, tableOf } from './names.ts';
import { entityReader, type Row, selection, shapeOf } from './rows.ts';
import type { RunStatement } from './select.ts';

export type Db = Kysely<Schema>;

/** Key of an entity; in a partitioned class `day` selects the partition. */
export interface Whereabouts {
  readonly id: string;
  readonly day: Interval | undefined;
}

/** SQLSTATEs of values out of range, unreadable, or too large for an index. */
const UNFIT = ['22003', '22P02', '22P05', '54000'];

/** The entity in its database form. */
export async function readRow(
  run: RunStatement,
  stored: StoredClass,
  which: Whereabouts,
): Promise<TextRow | undefined> {
  const found = sql`select ${selection(stored)} from ${tableOf(stored)} where ${where(stored, which)} limit 1`;
  const [row] = await run(found.statement());
  return row;
}

/** The entity, locked until the transaction ends. */
export async function findForUpdate(db: Db, stored: StoredClass, which: Whereabouts): Promise<Entity | undefined> {
  const { rows } = await sql<Row>`
    select ${selection(stored)} from ${tableOf(stored)} where ${where(stored, which)} limit 1 for update`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : entityReader(stored)(row);
}

/** @throws ConflictError, InvalidFieldError */
export async function insertEntity(db: Db, stored: StoredClass, entity: Entity): Promise<Entity> {
  return await write(db, stored, sql`${insertion(stored, entity)} returning ${selection(stored)}`);
}

/**
 * Inserts outside of a transaction. Columns that the database leaves unchanged are not selected.
 * @throws ConflictError, InvalidFieldError
 */
export async function insertAlone(run: RunStatement, stored: StoredClass, entity: Entity): Promise<Entity> {
  const { changed, readText } = shapeOf(stored);
  const insert = insertion(stored, entity);
  try {
    if (changed.columns.length === 0) {
      await run(insert.statement());
      return entity;
    }
    const [row] = await run(sql`${insert} returning ${selection(stored)}`.statement());
    if (row === undefined) throw new Error(`The insert into ${stored.classname} returned no row.`);
    return readText(row);
  } catch (error) {
    throw blame(stored, error);
  }
}

/**
 * Inserts, or updates the entity with this id; its attachments and increment stay.
 * @throws ConflictError, InvalidFieldError
 */
export async function upsertEntity(db: Db, stored: StoredClass, entity: Entity): Promise<Entity> {
  const assignments = stored.allProperties
    .filter((property) => !isManaged(property))
    .map(({ name }) => {
      const column = columnOf(stored, name);
      return sql`${column} = excluded.${column}`;
    });
  // A class without properties has nothing to set, but the row must be returned.
  const set = assignments.length === 0 ? sql`id = excluded.id` : sql.join(assignments);
  const upsert = sql`${insertion(stored, entity)} on conflict (id) do update set ${set} returning ${selection(stored)}`;
  return await write(db, stored, upsert);
}

/** @throws ConflictError, InvalidFieldError */
export async function updateEntity(
  db: Db,
  stored: StoredClass,
  day: Interval | undefined,
  entity: Entity,
): Promise<Entity> {
  const assignments = stored.allProperties
    .filter((property) => property.data_type !== 'increment')
    .map((property) => sql`${columnOf(stored, property.name)} = ${columnValue(property, entity[property.name])}`);
  // A class without properties has nothing to set.
  if (assignments.length === 0) return entity;
  const update = sql`update ${tableOf(stored)} set ${sql.join(assignments)} where ${where(stored, { id: entity.id, day })}
    returning ${selection(stored)}`;
  return await write(db, stored, update);
}

/** @returns the removed entity */
export async function deleteEntity(
  run: RunStatement,
  stored: StoredClass,
  which: Whereabouts,
): Promise<Entity | undefined> {
  const removal = sql`delete from ${tableOf(stored)} where ${where(stored, which)} returning ${selection(stored)}`;
  const [row] = await run(removal.statement());
  return row === undefined ? undefined : shapeOf(stored).readText(row);
}

/** Deletes the entity found by {@link findForUpdate}, in the same transaction. */
export async function deleteForUpdate(db: Db, stored: StoredClass, which: Whereabouts): Promise<void> {
  await sql`delete from ${tableOf(stored)} where ${where(stored, which)}`.execute(db);
}

function where(stored: StoredClass, { id, day }: Whereabouts): Fragment {
  if (day === undefined) return sql`id = ${id}`;
  const time = columnOf(stored, timeProperty(stored));
  return sql`id = ${id} and ${time} >= ${day.from}::bigint and ${time} < ${day.to}::bigint`;
}

function insertion(stored: StoredClass, entity: Entity): Fragment {
  // An absent increment takes its default, the next number.
  const given = stored.allProperties.filter((property) => property.data_type !== 'increment');
  const names = ['id', ...given.map(({ name }) => columnName(stored, name))].map((name) => sql.id(name));
  const values = [sql`${entity.id}`, ...given.map((property) => columnValue(property, entity[property.name]))];
  return sql`insert into ${tableOf(stored)} (${sql.join(names)}) values (${sql.join(values)})`;
}

async function write(db: Db, stored: StoredClass, statement: Fragment): Promise<Entity> {
  try {
    const { rows } = await sql<Row>`${statement}`.execute(db);
    const [row] = rows;
    if (row === undefined) throw new Error(`The write of an entity of ${stored.classname} returned no row.`);
    return entityReader(stored)(row);
  } catch (error) {
    throw blame(stored, error);
  }
}

/** Translates errors caused by the input. */
function blame(stored: StoredClass, error: unknown): unknown {
  if (!(error instanceof SqlError)) return error;
  if (error.code === SQLSTATE.uniqueViolation) {
    const field = propertyOfIndex(stored, error.constraint ?? '') ?? 'id';
    return new ConflictError(field, { cause: error });
  }
  if (UNFIT.includes(error.code))
    return new InvalidFieldError('body', `does not fit: ${error.message}`, undefined, { cause: error });
  return error;
}
