/** SQL of list queries. */
import { sql, SqlError, type Statement, type TextRow } from '../../storage/index.ts';
import { BadParameterError } from '../errors.ts';
import { allOf, type Fragment, type Grouping, groupingToSql, orderToSql, SqlCompiler } from '../filter/index.ts';
import type { ParsedQuery } from '../query.ts';
import { timeProperty } from '../resolve-class.ts';
import type { StoredClass } from '../stored-class.ts';
import { type Column, kindOf } from './columns.ts';
import { columnOf, tableOf } from './names.ts';
import { type Selection, shapeOf, versionOf } from './rows.ts';

/** Runs a statement outside of a transaction. */
export type RunStatement = (statement: Statement) => Promise<readonly TextRow[]>;

/** Rows and their columns. */
export interface Found {
  readonly columns: readonly Column[];
  readonly rows: readonly TextRow[];
}

export async function listRows(
  run: RunStatement,
  stored: StoredClass,
  query: ParsedQuery,
  { sql: selected, columns }: Selection = shapeOf(stored).whole,
): Promise<Found> {
  const compiler = new SqlCompiler(shapeOf(stored).fields);
  // The id makes the order total: pages neither overlap nor have gaps.
  const terms = [...orderToSql(compiler, query.order), sql`${sql.id('id')} asc`];
  const statement = sql`
    select ${selected} ${source(stored, compiler, query)}
    order by ${sql.join(terms)} ${pageOf(query)}`;
  return { columns, rows: await run(statement.statement()) };
}

export async function countRows(run: RunStatement, stored: StoredClass, query: ParsedQuery): Promise<number> {
  const compiler = new SqlCompiler(shapeOf(stored).fields);
  const from = source(stored, compiler, query);
  const counted =
    query.grouping === undefined
      ? sql`select count(*) ${from}`
      : sql`select count(*) from (${groupingToSql(query.grouping, compiler, from).query}) g`;
  const [row] = await guarded(() => run(counted.statement()));
  return Number(row?.[0] ?? 0);
}

/** One row per group, in the requested order, then by group. */
export async function groupRows(
  run: RunStatement,
  stored: StoredClass,
  query: ParsedQuery,
  grouping: Grouping,
): Promise<Found> {
  const compiler = new SqlCompiler(shapeOf(stored).fields);
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
  const statement = sql`select ${sql.join(selected)} from (${grouped}) g ${order} ${pageOf(query)}`;
  const rows = await guarded(() => run(statement.statement()));
  return { columns: named.map(({ name, expression }) => ({ name, kind: kindOf(expression.type) })), rows };
}

/** A literal limit: for a parameter PostgreSQL assumes a tenth of the table and plans each time again. */
function pageOf({ limit, offset }: ParsedQuery): Fragment {
  return offset === 0 ? sql`limit ${sql.number(limit)}` : sql`limit ${sql.number(limit)} offset ${offset}`;
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

/** A sum beyond the range of a double is an error of the expression. */
async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '22003') throw error;
    throw new BadParameterError('aggr', 'computes a number that is out of range', undefined, { cause: error });
  }
}
