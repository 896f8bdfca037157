/** Lists of domain-center collections, selected by the data model's filter expressions. */
import type { Kysely } from 'kysely';
import { type Fragment, type Schema, sql } from '../../storage/index.ts';
import { Type } from 'typebox';
import {
  type Expression,
  fieldTypes,
  isIntegral,
  type OrderEntry,
  orderToSql,
  SqlCompiler,
  type SqlField,
} from '../../model/index.ts';
import type { CollectionDefinition, Row } from './definition.ts';

export interface CollectionQuery {
  /** Restricts to these domains. */
  readonly within?: { readonly field: string; readonly ids: readonly string[] };
  /** Restricts to exactly these texts. */
  readonly equal?: Readonly<Record<string, string>>;
  readonly filter?: Expression | undefined;
  /** Default: by id, which ends every order. */
  readonly order?: readonly OrderEntry[] | undefined;
  readonly offset?: number | undefined;
  /** Default: all. */
  readonly limit?: number | undefined;
}

export async function selectRows<Entity extends Row>(
  db: Kysely<Schema>,
  definition: CollectionDefinition,
  query: CollectionQuery,
): Promise<readonly Entity[]> {
  const compiler = new SqlCompiler(sqlFields(definition));
  const order = [...orderToSql(compiler, query.order ?? []), sql`${sql.id('id')} asc`];
  const limit = query.limit === undefined ? sql`` : sql`limit ${query.limit}::bigint`;
  const { rows } = await sql<Entity>`
    select * ${source(definition, compiler, query)}
    order by ${sql.join(order)} ${limit} offset ${query.offset ?? 0}::bigint`.execute(db);
  return rows;
}

export async function countRows(
  db: Kysely<Schema>,
  definition: CollectionDefinition,
  query: CollectionQuery,
): Promise<number> {
  const from = source(definition, new SqlCompiler(sqlFields(definition)), query);
  const { rows } = await sql<{ count: number }>`select count(*) as count ${from}`.execute(db);
  return rows[0]?.count ?? 0;
}

function source(definition: CollectionDefinition, compiler: SqlCompiler, query: CollectionQuery): Fragment {
  const { within, equal = {}, filter } = query;
  const conditions: Fragment[] = Object.entries(equal).map(([name, value]) => sql`${sql.id(name)} = ${value}`);
  if (within !== undefined) conditions.push(isOneOf(within.field, within.ids));
  if (filter !== undefined) conditions.push(compiler.condition(filter));
  const all = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
  return sql`from ${sql.id(definition.table)} where ${all}`;
}

/** A single id as an equality, so that an index serves the order, too. */
function isOneOf(field: string, ids: readonly string[]): Fragment {
  return ids.length === 1 ? sql`${sql.id(field)} = ${ids[0]}` : sql`${sql.id(field)} = any(${ids}::text[])`;
}

const known = new WeakMap<CollectionDefinition, ReadonlyMap<string, SqlField>>();

function sqlFields(definition: CollectionDefinition): ReadonlyMap<string, SqlField> {
  const fields = known.get(definition) ?? makeFields(definition);
  known.set(definition, fields);
  return fields;
}

/** Returned fields; only these can be filtered and ordered by. */
function makeFields({ schema, readOnly = {}, writeOnly }: CollectionDefinition): ReadonlyMap<string, SqlField> {
  const properties = { ...schema.properties, ...readOnly };
  const answered = [...fieldTypes(Type.Object(properties))].filter(([name]) => !writeOnly.includes(name));
  return new Map(
    answered.map(([name, type]) => {
      const column = sql.id(name);
      const isInteger = type === 'number' && isIntegral(properties[name] ?? {});
      // Lists are stored as JSON.
      const value = type === 'text[]' ? sql`array(select jsonb_array_elements_text(${column}) collate "C")` : column;
      return [name, { type, isInteger, sql: value }];
    }),
  );
}
