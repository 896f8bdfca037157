/** Lists as CSV (RFC 4180). */
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { ListQuery, ModelCollection } from '../../runtime/model/index.ts';
import { attachment } from '../content-disposition.ts';

type Row = Readonly<Record<string, unknown>>;

export const CSV = 'text/csv';

/** Rows written before yielding to other work. */
const PART = 100;

/** Spreadsheets run a text that begins like this as a formula; a signed number is none. */
const FORMULA = /^(?:[=@\t\r]|[+-](?![\d.]))/;

/** Answers a list as a CSV file; a count as JSON. */
export async function csvList(
  reply: FastifyReply,
  collection: Pick<ModelCollection, 'definition' | 'list'>,
  query: ListQuery,
): Promise<object> {
  const list = await collection.list(query);
  if ('count' in list) return list;
  const { classname, allProperties } = collection.definition;
  reply.type(`${CSV}; charset=utf-8; header=present`);
  reply.header('content-disposition', attachment(`${classname.replaceAll('/', '-')}.csv`));
  return Readable.from(csvOf(list, ['id', ...allProperties.map(({ name }) => name)]));
}

/**
 * Rows as CSV with a header, written as its reader consumes it. The columns are the fields of the rows, in the order in which
 * they come. An object or a list is JSON; an absent value is empty.
 *
 * @param columns of a list without rows
 */
async function* csvOf(rows: readonly Row[], columns: readonly string[]): AsyncGenerator<string> {
  const found = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const names = found.length === 0 ? columns : found;
  let text = line(names);
  for (const [index, row] of rows.entries()) {
    text += line(names.map((name) => row[name]));
    if ((index + 1) % PART !== 0) continue;
    yield text;
    text = '';
    await turn();
  }
  yield text;
}

function line(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
