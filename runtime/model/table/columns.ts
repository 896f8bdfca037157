/** Columns of a result as PostgreSQL writes them, and what becomes of them: values, or JSON without that detour. */
import type { TextRow } from '../../storage/index.ts';
import type { ValueType } from '../filter/index.ts';

/** How the text of a value is to be read. */
export type TextKind = 'text' | 'integer' | 'float' | 'boolean' | 'json';

export interface Column {
  /** As it is answered. */
  readonly name: string;
  readonly kind: TextKind;
}

/** Of an expression's value; lists are selected as JSON. */
export function kindOf(type: ValueType): TextKind {
  switch (type) {
    case 'text':
    case 'null':
      return 'text';
    case 'number':
      return 'float';
    case 'boolean':
      return 'boolean';
    case 'json':
    case 'text[]':
    case 'number[]':
    case 'boolean[]':
    case 'empty[]':
      return 'json';
    default:
      return type satisfies never;
  }
}

const VALUES: Readonly<Record<TextKind, (text: string) => unknown>> = {
  text: (text) => text,
  integer: Number,
  float: Number,
  boolean: (text) => text === 't',
  json: (text) => JSON.parse(text) as unknown,
};

/** What JSON does not take as it is; PostgreSQL's texts are whole characters. A look costs a third of the call. */
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const ESCAPED = /["\\\u0000-\u001f\u007f-\uffff]/;

const JSONS: Readonly<Record<TextKind, (text: string) => string>> = {
  text: (text) => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`),
  integer: (text) => text,
  // PostgreSQL writes numbers that JSON has not, such as NaN.
  float: (text) => JSON.stringify(Number(text)),
  boolean: (text) => (text === 't' ? 'true' : 'false'),
  json: (text) => text,
};

/** Makes the function that reads rows of these columns. */
export function rowReader(columns: readonly Column[]): (row: TextRow) => Readonly<Record<string, unknown>> {
  const readers = columns.map(({ name, kind }) => ({ name, read: VALUES[kind] }));
  return (row) => {
    const fields: Record<string, unknown> = {};
    for (let index = 0; index < readers.length; index += 1) {
      const reader = readers[index];
      const text = row[index];
      if (reader !== undefined) fields[reader.name] = text === null || text === undefined ? null : reader.read(text);
    }
    return fields;
  };
}

/** Makes the function that writes a row of these columns as JSON: what `JSON.stringify` makes of it read. */
export function rowWriter(columns: readonly Column[]): (row: TextRow) => string {
  const writers = columns.map(({ name, kind }, index) => ({
    key: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: JSONS[kind],
  }));
  if (writers.length === 0) return () => '{}';
  return (row) => {
    let json = '';
    for (let index = 0; index < writers.length; index += 1) {
      const writer = writers[index];
      const text = row[index];
      if (writer !== undefined)
        json += writer.key + (text === null || text === undefined ? 'null' : writer.write(text));
    }
    return `${json}}`;
  };
}

/** A list of rows as JSON. */
export function writeRows(columns: readonly Column[], rows: readonly TextRow[]): string {
  const write = rowWriter(columns);
  let json = '[';
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index];
    if (row !== undefined) json += index === 0 ? write(row) : `,${write(row)}`;
  }
  return `${json}]`;
}
