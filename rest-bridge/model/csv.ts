/** Lists as CSV (RFC 4180). */
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { type ListQuery, type ModelCollection, parseMask } from '../../runtime/model/index.ts';
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
  const columns = columnsOf(list, query.mask, ['id', ...allProperties.map(({ name }) => name)]);
  reply.type(`${CSV}; charset=utf-8; header=present`);
  reply.header('content-disposition', attachment(`${classname.replaceAll('/', '-')}.csv`));
  return Readable.from(csvOf(list, columns));
}

/**
 * The names of a mask in its order, also of fields that no row has; without one, the fields of the rows in the order in which
 * they come, or all of a list without rows. Parts of a field (`opts.a`) come in their field's place.
 */
function columnsOf(rows: readonly Row[], mask: string | undefined, known: readonly string[]): readonly string[] {
  const found = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const selected = parseMask(mask);
  if (selected === undefined) return found.length === 0 ? known : found;
  const inOrder = [...selected.keys()].flatMap((name) => {
    const parts = found.filter((column) => column === name || column.startsWith(`${name}.`));
    return parts.length === 0 && known.includes(name) ? [name] : parts;
  });
  return [...new Set([...inOrder, ...found])];
}

/**
 * Rows as CSV with a header, written as its reader consumes it. An object or a list is JSON; an absent value is empty.
 */
async function* csvOf(rows: readonly Row[], names: readonly string[]): AsyncGenerator<string> {
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
