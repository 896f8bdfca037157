/** Between rows and entities. */
import { sql } from 'kysely';
import type { PropertyDefinition } from '../class-definition.ts';
import type { Fragment, SqlField } from '../filter/index.ts';
import type { Entity } from '../model.ts';
import { valueTypeOf } from '../query.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnName, columnOf, sqlType } from './names.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A comment: each version of a class has its own statements, as a prepared one must not answer other types than it did. */
export function versionOf({ version }: StoredClass): Fragment {
  return sql.raw(`/* version ${Math.trunc(version)} */`);
}

/** What is selected: lists as JSON, which both drivers read alike. */
export function selection(stored: StoredClass): Fragment {
  const columns = stored.allProperties.map(({ name, ...property }) => {
    const column = columnOf(stored, name);
    return sqlType({ name, ...property }).includes('[]') ? sql`to_jsonb(${column}) as ${column}` : column;
  });
  return sql`${sql.join([sql.id('id'), ...columns])} ${versionOf(stored)}`;
}

/** Makes the function that reads entities from rows of `selection`. */
export function entityReader(stored: StoredClass): (row: Row) => Entity {
  const columns = stored.allProperties.map(({ name }) => [name, columnName(stored, name)] as const);
  return (row) => {
    const entity: Record<string, unknown> = { id: row['id'] };
    for (const [name, column] of columns) entity[name] = row[column] ?? null;
    return entity as Entity;
  };
}

/** The columns as filter expressions see them. */
export function sqlFields(stored: StoredClass): ReadonlyMap<string, SqlField> {
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

function isInteger({ data_type: type }: PropertyDefinition): boolean {
  return type === 'integer' || type === 'long' || type === 'increment';
}
