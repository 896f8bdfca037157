/** Converts between rows and entities. */
import { sql, type TextRow } from '../../storage/index.ts';
import type { DataType, PropertyDefinition } from '../class-definition.ts';
import type { Fragment, Mask, SqlField } from '../filter/index.ts';
import type { Entity } from '../fields.ts';
import { valueTypeOf } from '../query.ts';
import type { StoredClass } from '../stored-class.ts';
import { type Column, kindOf, rowReader } from './columns.ts';
import { columnName, columnOf, sqlType } from './names.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An SQL comment that separates statements by class version: a prepared statement must keep its result types. */
export function versionOf({ version }: StoredClass): Fragment {
  return sql.raw(`/* version ${Math.trunc(version)} */`);
}

/** Selected columns and their formats. */
export interface Selection {
  readonly columns: readonly Column[];
  /** Lists are selected as JSON. */
  readonly sql: Fragment;
}

/** Prepared parts of a class's statements; made once per class object. */
export interface TableShape {
  readonly whole: Selection;
  readonly fields: ReadonlyMap<string, SqlField>;
  /** Columns of an inserted entity that the database changes: increments, and reordered JSON. */
  readonly changed: Selection;
  /** Reads rows of `whole`. */
  readonly readText: (row: TextRow) => Entity;
}

const CHANGED: readonly DataType[] = ['increment', 'any', 'attachment'];

const shapes = new WeakMap<StoredClass, TableShape>();

export function shapeOf(stored: StoredClass): TableShape {
  const known = shapes.get(stored);
  if (known !== undefined) return known;
  const whole = select(stored, () => true);
  const changed = stored.allProperties.filter(({ data_type: type }) => CHANGED.includes(type)).map(({ name }) => name);
  const shape: TableShape = {
    whole,
    fields: sqlFields(stored),
    changed: select(stored, (name) => changed.includes(name)),
    readText: rowReader(whole.columns) as (row: TextRow) => Entity,
  };
  shapes.set(stored, shape);
  return shape;
}

/** The properties that a mask selects whole; undefined when it selects a part of one. */
export function masked(stored: StoredClass, mask: Mask | undefined): Selection | undefined {
  if (mask === undefined) return shapeOf(stored).whole;
  if ([...mask.values()].some((keys) => keys !== undefined)) return undefined;
  return select(stored, (name) => mask.has(name));
}

function select(stored: StoredClass, isWanted: (name: string) => boolean): Selection {
  const properties = stored.allProperties.filter(({ name }) => isWanted(name));
  const columns: Column[] = properties.map((property) => ({ name: property.name, kind: kindOfProperty(property) }));
  const texts = properties.map((property) => {
    const name = `"${columnName(stored, property.name)}"`;
    return sqlType(property).includes('[]') ? `to_jsonb(${name}) as ${name}` : name;
  });
  if (isWanted('id')) {
    columns.unshift({ name: 'id', kind: 'text' });
    texts.unshift('"id"');
  }
  return { columns, sql: sql`${sql.raw(texts.join(', '))} ${versionOf(stored)}` };
}

/** Selected columns: lists as JSON, which both drivers read alike. */
export function selection(stored: StoredClass): Fragment {
  return shapeOf(stored).whole.sql;
}

/** Makes a function that reads entities from driver rows of `selection`. */
export function entityReader(stored: StoredClass): (row: Row) => Entity {
  const read = fieldsReader(stored, stored.allProperties);
  return (row) => ({ id: row['id'], ...read(row) }) as Entity;
}

/** Makes a function that reads some properties from driver rows. */
export function fieldsReader(stored: StoredClass, properties: readonly { readonly name: string }[]): (row: Row) => Row {
  const columns = properties.map(({ name }) => [name, columnName(stored, name)] as const);
  return (row) => {
    const fields: Record<string, unknown> = {};
    for (const [name, column] of columns) fields[name] = row[column] ?? null;
    return fields;
  };
}

/** The columns for filter expressions. */
function sqlFields(stored: StoredClass): ReadonlyMap<string, SqlField> {
  const fields = stored.allProperties.map((property) => {
    const field: SqlField = {
      type: valueTypeOf(property),
      sql: columnOf(stored, property.name),
      isInteger: isInteger(property),
    };
    return [property.name, field] as const;
  });
  return new Map([['id', { type: 'text', sql: sql.id('id'), isInteger: false }], ...fields]);
}

function kindOfProperty(property: PropertyDefinition): Column['kind'] {
  return isInteger(property) && !property.multi ? 'integer' : kindOf(valueTypeOf(property));
}

function isInteger({ data_type: type }: PropertyDefinition): boolean {
  return type === 'integer' || type === 'long' || type === 'increment';
}
