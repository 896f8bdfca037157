/** SQL names in the schema `model`: made of numbers only. */
import { sql } from '../../storage/index.ts';
import type { PropertyDefinition } from '../class-definition.ts';
import type { Fragment } from '../filter/index.ts';
import type { StoredClass } from '../stored-class.ts';

export const SCHEMA = 'model';

/**
 * Each change of the properties renames the table, so that a statement for the old properties fails with an undefined
 * table.
 */
export function tableName({ number, shape }: StoredClass): string {
  return shape === 0 ? `c_${number}` : `c_${number}_v${shape}`;
}

/** Prefix of partition names; a rename keeps it. */
export function partitionPrefix({ number }: StoredClass): string {
  return `c_${number}_`;
}

export function tableOf(stored: StoredClass): Fragment {
  return sql.id(SCHEMA, tableName(stored));
}

export function columnNumber({ columns, classname }: StoredClass, property: string): number {
  const number = Object.hasOwn(columns, property) ? columns[property] : undefined;
  if (number === undefined) throw new Error(`The class ${classname} has no column for ${property}.`);
  return number;
}

export function columnName(stored: StoredClass, property: string): string {
  return property === 'id' ? 'id' : `p_${columnNumber(stored, property)}`;
}

export function columnOf(stored: StoredClass, property: string): Fragment {
  return sql.id(columnName(stored, property));
}

export function sequenceOf(stored: StoredClass, property: string): Fragment {
  return sql.id(SCHEMA, `s_${stored.number}_${columnNumber(stored, property)}`);
}

/** `u`: unique, `i`: any other. */
export function indexName(stored: StoredClass, property: string, kind: 'u' | 'i'): string {
  return `${kind}_${stored.number}_${columnNumber(stored, property)}`;
}

/** The property of a unique index; undefined for other constraints. */
export function propertyOfIndex(stored: StoredClass, constraint: string): string | undefined {
  return stored.allProperties.find(({ name }) => indexName(stored, name, 'u') === constraint)?.name;
}

/** SQL type of a column; texts compare by code point in every database. */
export function sqlType({ data_type: type, multi }: PropertyDefinition): string {
  switch (type) {
    case 'any':
    case 'attachment':
      return 'jsonb';
    case 'string':
    case 'enum':
      return multi ? 'text[] collate "C"' : 'text collate "C"';
    case 'boolean':
      return multi ? 'boolean[]' : 'boolean';
    case 'integer':
      return multi ? 'bigint[]' : 'integer';
    case 'long':
    case 'increment':
      return multi ? 'bigint[]' : 'bigint';
    case 'float':
      return multi ? 'float8[]' : 'float8';
    default:
      return type satisfies never;
  }
}
