/** The queries of a list. */
import { type Kysely, sql } from 'kysely';
import { type Schema, SqlError } from '../../storage/index.ts';
import { BadParameterError } from '../errors.ts';
import { allOf, type Fragment, type Grouping, groupingToSql, orderToSql, SqlCompiler } from '../filter/index.ts';
import type { ParsedQuery } from '../query.ts';
import { timeProperty } from '../resolve-class.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnOf, tableOf } from './names.ts';
import { type Row, selection, sqlFields, versionOf } from './rows.ts';

type Db = Kysely<Schema>;

export async function listRows(db: Db, stored: StoredClass, query: ParsedQuery): Promise<readonly Row[]> {
  const compiler = new SqlCompiler(sqlFields(stored));
  // The id makes the order whole: pages neither overlap nor leave out.
  const terms = [...orderToSql(compiler, query.order), sql`${sql.id('id')} asc`];
  const { rows } = await sql<Row>`
    select ${selection(stored)} ${source(stored, compiler, query)}
    order by ${sql.join(terms)} limit ${query.limit} offset ${query.offset}`.execute(db);
  return rows;
}

export async function countRows(db: Db, stored: StoredClass, query: ParsedQuery): Promise<number> {
  const compiler = new SqlCompiler(sqlFields(stored));
  const from = source(stored, compiler, query);
  const counted =
    query.grouping === undefined
      ? sql<{ count: number }>`select count(*) as count ${from}`
      : sql<{
          count: number;
        }>`select count(*) as count from (${groupingToSql(query.grouping, compiler, from).query}) g`;
  const { rows } = await guarded(() => counted.execute(db));
  return rows[0]?.count ?? 0;
}

/** One row a group, ordered as asked, then by the groups. */
export async function groupRows(
  db: Db,
  stored: StoredClass,
  query: ParsedQuery,
  grouping: Grouping,
): Promise<readonly Row[]> {
  const compiler = new SqlCompiler(sqlFields(stored));
  const { query: grouped, columns } = groupingToSql(grouping, compiler, source(stored, compiler, query));
  const named = [...grouping.groups, ...grouping.results];
  const results = new SqlCompiler(
    new Map(
      named.map(({ name, expression }) => [
        name,
        { type: expression.type, sql: sql.id(columns.get(name) ?? ''), isInteger: false },
      ]),
    ),
  );
  const groups = grouping.groups.map((_, index) => sql`${sql.id(`g${index}`)} asc`);
  const terms = [...orderToSql(results, query.order), ...groups];
  const order = terms.length === 0 ? sql`` : sql`order by ${sql.join(terms)}`;
  const selected = named.map(({ name, expression }) => {
    const column = sql.id(columns.get(name) ?? '');
    return expression.type.endsWith('[]') ? sql`to_jsonb(${column}) as ${column}` : column;
  });
  const { rows } = await guarded(() =>
    sql<Row>`
      select ${sql.join(selected)} from (${grouped}) g ${order}
      limit ${query.limit} offset ${query.offset}`.execute(db),
  );
  return rows.map((row) => Object.fromEntries(named.map(({ name }) => [name, row[columns.get(name) ?? ''] ?? null])));
}

function source(stored: StoredClass, compiler: SqlCompiler, { filter, interval }: ParsedQuery): Fragment {
  const conditions: Fragment[] = [];
  if (interval !== undefined) {
    const time = columnOf(stored, timeProperty(stored));
    conditions.push(sql`${time} >= ${interval.from}::bigint`, sql`${time} < ${interval.to}::bigint`);
  }
  if (filter !== undefined) conditions.push(compiler.condition(filter));
  return sql`from ${tableOf(stored)} ${versionOf(stored)} where ${allOf(conditions)}`;
}

/** A sum beyond what a double holds is the fault of the expression. */
async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '22003') throw error;
    throw new BadParameterError('aggr', 'computes a number that is out of range', undefined, { cause: error });
  }
}
