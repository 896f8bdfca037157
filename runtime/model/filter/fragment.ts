/** SQL fragments of filters: a value is always a parameter, a name always comes from the class. */
import { type Fragment, sql } from '../../storage/index.ts';
import type { ValueType } from './expression.ts';

export type { Fragment } from '../../storage/index.ts';

/** Storage of a property. */
export interface SqlField {
  readonly type: ValueType;
  /** The column. */
  readonly sql: Fragment;
  /** The column holds integers; a literal compared with it is cast, so that the index applies. */
  readonly isInteger: boolean;
}

export interface SqlFields {
  get(name: string): SqlField | undefined;
}

const SQL_TYPES: Readonly<Record<ValueType, Fragment>> = {
  text: sql`text`,
  number: sql`float8`,
  boolean: sql`boolean`,
  json: sql`jsonb`,
  'text[]': sql`text[]`,
  'number[]': sql`float8[]`,
  'boolean[]': sql`boolean[]`,
  null: sql`text`,
  'empty[]': sql`text[]`,
};

/** A literal as a parameter with its type. */
export function literal(type: ValueType, value: unknown): Fragment {
  if (value === null) return sql`null::${SQL_TYPES[type]}`;
  if (type === 'json') return sql`${JSON.stringify(value)}::jsonb`;
  if (type === 'text' || type === 'null') return sql`(${value}::text collate "C")`;
  return sql`${value}::${SQL_TYPES[type]}`;
}

export function join(fragments: readonly Fragment[], separator: Fragment): Fragment {
  return sql`(${sql.join(fragments, separator)})`;
}
