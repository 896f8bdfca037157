/** Reads result columns in PostgreSQL's text format: as values, or directly as JSON. */
import type { TextRow } from '../../storage/index.ts';
import type { ValueType } from '../filter/index.ts';

/** Text format of a column. */
export type TextKind = 'text' | 'integer' | 'float' | 'boolean' | 'json';

export interface Column {
  /** Name in the response. */
  readonly name: string;
  readonly kind: TextKind;
}

/** Column kind of an expression; lists are selected as JSON. */
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

/**
 * Characters that JSON must escape. PostgreSQL's texts are well-formed Unicode. This test costs a third of
 * JSON.stringify.
 */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const ESCAPED = /["\\\u0000-\u001f\u007f-\uffff]/;

const JSONS: Readonly<Record<TextKind, (text: string) => string>> = {
  text: (text) => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`),
  integer: (text) => text,
  // PostgreSQL writes numbers that JSON lacks, such as NaN.
  float: (text) => JSON.stringify(Number(text)),
  boolean: (text) => (text === 't' ? 'true' : 'false'),
  json: (text) => text,
};

/** Makes a function that reads rows of these columns. */
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

/** Makes a function that writes a row of these columns as JSON, with the result of `JSON.stringify`. */
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
