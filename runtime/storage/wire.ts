/** Encodes and decodes the messages of PostgreSQL's protocol (manual, "Message Formats") for single statements. */
import type { SqlErrorFields } from './errors.ts';
import type { TextRow } from './storage.ts';

export interface WireStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Name of the prepared statement; empty: none. */
  readonly name: string;
  /** True when the server has already prepared it. */
  readonly isPrepared: boolean;
}

export interface WireReply {
  readonly rows: readonly TextRow[];
  /** True when the server has prepared the statement, even if its execution failed. */
  readonly isParsed: boolean;
  /** The server's error, if it refused the statement. */
  readonly error: SqlErrorFields | undefined;
}

/** No row limit. */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const PARSE = 0x50;
const BIND = 0x42;
const QUERY = 0x51;
const PARSE_COMPLETE = 0x31;
const DATA_ROW = 0x44;
const ERROR_RESPONSE = 0x45;

/** Parse, unless it is prepared, then Bind, Execute and Sync: the server answers with rows as text. */
export function encodeStatement({ text, values, name, isPrepared }: WireStatement): Buffer {
  const nameBytes = Buffer.byteLength(name);
  const textBytes = isPrepared ? 0 : Buffer.byteLength(text);
  const parseBytes = isPrepared ? 0 : 1 + 4 + nameBytes + 1 + textBytes + 1 + 2;
  let bindBytes = 1 + 4 + 1 + nameBytes + 1 + 2 + 2 + 2;
  for (const value of values) bindBytes += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(parseBytes + bindBytes + EXECUTE_AND_SYNC.length);
  let at = 0;
  const int16 = (value: number): void => void (at = bytes.writeInt16BE(value, at));
  const int32 = (value: number): void => void (at = bytes.writeInt32BE(value, at));
  const zeroEnded = (value: string): void => {
    at += bytes.write(value, at);
    at = bytes.writeUInt8(0, at);
  };
  if (!isPrepared) {
    at = bytes.writeUInt8(PARSE, at);
    int32(parseBytes - 1);
    zeroEnded(name);
    zeroEnded(text);
    int16(0);
  }
  at = bytes.writeUInt8(BIND, at);
  int32(bindBytes - 1);
  zeroEnded('');
  zeroEnded(name);
  int16(0);
  int16(values.length);
  for (const value of values) {
    if (value === null) {
      int32(-1);
      continue;
    }
    const length = at;
    at += 4;
    at += bytes.write(value, at);
    bytes.writeInt32BE(at - length - 4, length);
  }
  int16(0);
  EXECUTE_AND_SYNC.copy(bytes, at);
  return bytes;
}

/** A statement without parameters and rows, as a simple query. */
export function encodeSimple(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc(1 + 4 + length + 1);
  bytes.writeUInt8(QUERY, 0);
  bytes.writeInt32BE(4 + length + 1, 1);
  bytes.write(text, 5);
  return bytes;
}

/** The server's reply to one statement. */
export function decodeReply(reply: Uint8Array): WireReply {
  const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength);
  const rows: TextRow[] = [];
  let isParsed = false;
  for (let at = 0; at + 5 <= bytes.length; ) {
    const kind = bytes[at];
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (kind === DATA_ROW) rows.push(readRow(bytes, at + 5));
    else if (kind === PARSE_COMPLETE) isParsed = true;
    else if (kind === ERROR_RESPONSE) return { rows, isParsed, error: readError(bytes, at + 5) };
    at = end;
  }
  return { rows, isParsed, error: undefined };
}

function readRow(bytes: Buffer, start: number): TextRow {
  const count = bytes.readInt16BE(start);
  const row: (string | null)[] = [];
  let at = start + 2;
  for (let column = 0; column < count; column += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) row.push(null);
    else row.push(bytes.toString('utf8', at, (at += length)));
  }
  return row;
}

/** PostgreSQL manual, "Error and Notice Message Fields". */
const FIELDS: Readonly<Record<string, keyof SqlErrorFields>> = {
  M: 'message',
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  t: 'table',
  c: 'column',
  n: 'constraint',
};

function readError(bytes: Buffer, start: number): SqlErrorFields {
  const fields: Partial<Record<keyof SqlErrorFields, string>> = {};
  for (let at = start; bytes[at] !== 0 && at < bytes.length; ) {
    const end = bytes.indexOf(0, at + 1);
    const field = FIELDS[String.fromCharCode(bytes[at] ?? 0)];
    if (field !== undefined) fields[field] = bytes.toString('utf8', at + 1, end);
    at = end + 1;
  }
  return { message: 'PostgreSQL refused the statement.', ...fields };
}
