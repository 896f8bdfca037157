/** Creates and changes the tables of classes, in the transaction that writes the settings. */
import type { Kysely } from 'kysely';
import { type Schema, sql, SqlError } from '../../storage/index.ts';
import type { DataType, PropertyDefinition } from '../class-definition.ts';
import { isPartitioned } from '../class-settings.ts';
import { CannotApplyError } from '../errors.ts';
import type { Fragment } from '../filter/index.ts';
import { timeProperty } from '../resolve-class.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnName, columnOf, indexName, SCHEMA, sequenceOf, sqlType, tableName, tableOf } from './names.ts';

type Db = Kysely<Schema>;

export async function createTable(db: Db, stored: StoredClass): Promise<void> {
  const columns: Fragment[] = [sql`id text collate "C" not null`];
  for (const property of stored.allProperties) columns.push(await columnDefinition(db, stored, property));
  if (isPartitioned(stored.storage_mode)) {
    const time = columnOf(stored, timeProperty(stored));
    columns.push(sql`primary key (${time}, id)`);
    await sql`create table ${tableOf(stored)} (${sql.join(columns)}) partition by range (${time})`.execute(db);
  } else {
    columns.push(sql`primary key (id)`);
    await sql`create table ${tableOf(stored)} (${sql.join(columns)})`.execute(db);
  }
  for (const property of stored.allProperties) await createIndexes(db, stored, property);
}

export async function dropTable(db: Db, stored: StoredClass): Promise<void> {
  await sql`drop table if exists ${tableOf(stored)}`.execute(db);
  for (const { name, data_type: type } of stored.allProperties) {
    if (type === 'increment') await sql`drop sequence if exists ${sequenceOf(stored, name)}`.execute(db);
  }
}

/**
 * Alters the table for a changed class and converts the data.
 *
 * @throws CannotApplyError naming the property whose data do not fit
 */
export async function alterTable(db: Db, before: StoredClass, after: StoredClass): Promise<void> {
  // First: waits for writers with the old definition; later ones find no table.
  if (tableName(before) !== tableName(after)) {
    await sql`alter table ${tableOf(before)} rename to ${sql.id(tableName(after))}`.execute(db);
  }
  const known = new Map(before.allProperties.map((property) => [property.name, property]));
  const names = new Set(after.allProperties.map(({ name }) => name));
  for (const property of before.allProperties) {
    if (!names.has(property.name)) await dropColumn(db, { ...before, shape: after.shape }, property);
  }
  for (const property of after.allProperties) {
    const old = known.get(property.name);
    if (old === undefined) {
      const definition = await columnDefinition(db, after, property);
      await sql`alter table ${tableOf(after)} add column ${definition}`.execute(db);
      await fillDefault(db, after, property);
      await createIndexes(db, after, property);
    } else {
      await changeColumn(db, before, after, old, property);
    }
  }
}

async function columnDefinition(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<Fragment> {
  const type = sql.raw(sqlType(property));
  const column = columnOf(stored, property.name);
  if (property.data_type !== 'increment') return sql`${column} ${type}`;
  const sequence = sequenceOf(stored, property.name);
  await sql`create sequence if not exists ${sequence}`.execute(db);
  const name = sql.raw(`'${SCHEMA}.s_${stored.number}_${columnName(stored, property.name).slice(2)}'`);
  return sql`${column} ${type} default nextval(${name}::regclass)`;
}

/** Existing entities get the default of a new property, like new ones. */
async function fillDefault(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  if (property.default === undefined) {
    if (!property.required || property.data_type === 'increment' || property.data_type === 'attachment') return;
    const { rows } = await sql`select 1 from ${tableOf(stored)} limit 1`.execute(db);
    if (rows.length === 0) return;
    throw new CannotApplyError(`properties.${property.name}.required`, 'needs a default for the existing entities');
  }
  const value = columnValue(property, property.default);
  await sql`update ${tableOf(stored)} set ${columnOf(stored, property.name)} = ${value}`.execute(db);
}

/** A parameter with the column's type, also for null: the statement is the same for all values. */
export function columnValue(property: PropertyDefinition, value: unknown): Fragment {
  const given = value ?? null;
  const type = sqlType(property);
  return type === 'jsonb' ? sql`${given === null ? null : JSON.stringify(given)}::jsonb` : sql`${given}`;
}

async function dropColumn(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  const { opts, storage_mode: mode } = stored;
  if (isPartitioned(mode) && property.name === timeProperty(stored)) {
    throw new CannotApplyError('opts.partition_property', 'cannot change: the data are partitioned by it', opts);
  }
  await sql`alter table ${tableOf(stored)} drop column ${columnOf(stored, property.name)}`.execute(db);
  if (property.data_type === 'increment') await sql`drop sequence ${sequenceOf(stored, property.name)}`.execute(db);
}

async function changeColumn(
  db: Db,
  old: StoredClass,
  stored: StoredClass,
  before: PropertyDefinition,
  after: PropertyDefinition,
): Promise<void> {
  const field = `properties.${after.name}`;
  const indexKept = indexSignature(old, before) === indexSignature(stored, after);
  if (!indexKept) await dropIndexes(db, stored, after);
  if (before.data_type !== after.data_type || before.multi !== after.multi) {
    const using = conversion(columnOf(stored, after.name), before, after);
    if (using === undefined) {
      const from = before.multi ? `a list of ${before.data_type}` : before.data_type;
      throw new CannotApplyError(`${field}.data_type`, `cannot be changed from ${from}; add another property`);
    }
    const isList = after.multi && !before.multi;
    if (sqlType(before) !== sqlType(after) || isList) await convertColumn(db, stored, after, using);
    if (before.data_type === 'string') await checkRange(db, stored, after);
  }
  if (after.data_type === 'enum') await checkItems(db, stored, after);
  if (after.required && !before.required) await checkPresent(db, stored, after);
  if (!indexKept) await createIndexes(db, stored, after);
}

/** Equal for equal indexes. */
function indexSignature({ opts }: StoredClass, property: PropertyDefinition): string {
  return JSON.stringify([
    property.index,
    property.unique,
    opts.lookup_properties.includes(property.name),
    sqlType(property),
  ]);
}

async function convertColumn(
  db: Db,
  stored: StoredClass,
  property: PropertyDefinition,
  using: Fragment,
): Promise<void> {
  const column = columnOf(stored, property.name);
  try {
    await sql`alter table ${tableOf(stored)} alter column ${column} type ${sql.raw(sqlType(property))} using ${using}`.execute(
      db,
    );
  } catch (error) {
    if (!(error instanceof SqlError) || !error.code.startsWith('22')) throw error;
    const reason = `does not fit the data: ${error.message}`;
    throw new CannotApplyError(`properties.${property.name}.data_type`, reason, undefined, { cause: error });
  }
}

const NUMERIC = ['integer', 'long', 'float'];
const TEXTUAL = ['string', 'enum'];

/** Lossless conversion between types; undefined: impossible. */
function conversion(column: Fragment, before: PropertyDefinition, after: PropertyDefinition): Fragment | undefined {
  const [from, to] = [before.data_type, after.data_type];
  if (from === 'increment' || to === 'increment' || from === 'attachment' || to === 'attachment') return undefined;
  const base = sql.raw(sqlType({ ...after, multi: false }).split(' ')[0] ?? '');
  if (to === 'any') {
    const json = from === 'any' ? column : sql`to_jsonb(${column})`;
    if (!after.multi || before.multi) return json;
    // JSON may already contain a list.
    return sql`case when jsonb_typeof(${json}) = 'array' then ${json} when ${column} is not null then jsonb_build_array(${json}) end`;
  }
  if (from === 'any' || (before.multi && !after.multi)) return undefined;
  const isWider = NUMERIC.includes(from) && NUMERIC.indexOf(to) >= NUMERIC.indexOf(from);
  const isReadable = from === 'string' && !TEXTUAL.includes(to);
  const isFine = from === to || isWider || TEXTUAL.includes(to) || isReadable;
  if (!isFine) return undefined;
  if (before.multi) return sql`${column}::${sql.raw(sqlType(after).split(' ')[0] ?? '')}`;
  const one = sql`${column}::${base}`;
  return after.multi ? sql`case when ${column} is not null then array[${one}] end` : one;
}

/** Values that PostgreSQL accepts from text but properties of the type do not. */
const BEYOND: Partial<Record<DataType, Fragment>> = {
  integer: sql`value not between -2147483648 and 2147483647`,
  long: sql`value not between -9007199254740991 and 9007199254740991`,
  float: sql`value = 'NaN' or value in ('Infinity', '-Infinity')`,
};

async function checkRange(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  const beyond = BEYOND[property.data_type];
  if (beyond === undefined) return;
  const column = columnOf(stored, property.name);
  const values = property.multi ? sql`unnest(${column})` : sql`(select ${column})`;
  const { rows } = await sql<{ value: unknown }>`
    select value from ${tableOf(stored)} cross join lateral ${values} as each (value) where ${beyond} limit 1`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return;
  const reason = `does not fit the data: ${String(row.value)} is out of range`;
  throw new CannotApplyError(`properties.${property.name}.data_type`, reason);
}

async function checkItems(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  const column = columnOf(stored, property.name);
  const fits = property.multi
    ? sql`${column} <@ ${property.items}::text[]`
    : sql`${column} = any(${property.items}::text[])`;
  const { rows } = await sql`select 1 from ${tableOf(stored)} where not (${fits}) limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new CannotApplyError(`properties.${property.name}.items`, 'lacks a value that entities have', property.items);
}

async function checkPresent(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  const column = columnOf(stored, property.name);
  const { rows } = await sql`select 1 from ${tableOf(stored)} where ${column} is null limit 1`.execute(db);
  if (rows.length === 0) return;
  throw new CannotApplyError(`properties.${property.name}.required`, 'cannot be set: an entity has no value');
}

async function dropIndexes(db: Db, stored: StoredClass, { name }: PropertyDefinition): Promise<void> {
  for (const kind of ['u', 'i'] as const) {
    await sql`drop index if exists ${sql.id(SCHEMA, indexName(stored, name, kind))}`.execute(db);
  }
}

async function createIndexes(db: Db, stored: StoredClass, property: PropertyDefinition): Promise<void> {
  const { name, index, unique } = property;
  const column = columnOf(stored, name);
  const table = tableOf(stored);
  if (property.data_type === 'attachment') {
    // For the search whether a file is still used.
    const hashes = property.multi ? sql`using gin (${column} jsonb_path_ops)` : sql`((${column} ->> 'hasha'))`;
    await sql`create index ${sql.id(indexName(stored, name, 'i'))} on ${table} ${hashes}`.execute(db);
    return;
  }
  if (unique) {
    try {
      await sql`create unique index ${sql.id(indexName(stored, name, 'u'))} on ${table} (${column})`.execute(db);
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== '23505') throw error;
      const reason = 'cannot be set: two entities have the same value';
      throw new CannotApplyError(`properties.${name}.unique`, reason, true, { cause: error });
    }
  }
  const isKey = stored.opts.lookup_properties.includes(name) && !unique;
  if (index === false && !isKey) return;
  const columns = await indexColumns(db, stored, property, column);
  await sql`create index ${sql.id(indexName(stored, name, 'i'))} on ${table} ${columns}`.execute(db);
}

async function indexColumns(
  db: Db,
  stored: StoredClass,
  { name, index }: PropertyDefinition,
  column: Fragment,
): Promise<Fragment> {
  if (index === 'list') return sql`using gin (${column})`;
  if (index === 'wildcard') {
    if (await hasTrigrams(db)) return sql`using gin (${column} gin_trgm_ops)`;
    // Without pg_trgm the index serves prefixes only.
    return sql`(${column}, id)`;
  }
  const more = Array.isArray(index) ? index.filter((each: string) => each !== name && each !== 'id') : [];
  return sql`(${sql.join([column, ...more.map((each: string) => columnOf(stored, each)), sql`id`])})`;
}

async function hasTrigrams(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_available_extensions where name = 'pg_trgm'`.execute(db);
  if (rows.length === 0) return false;
  await sql`create extension if not exists pg_trgm`.execute(db);
  return true;
}
