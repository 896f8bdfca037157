/**
 * Converts values to and from PostgreSQL's text format, the same for PGlite and a server. Otherwise the two client
 * libraries differ: int8 is a number in one and a string in the other, `date` is local midnight or UTC midnight.
 */

/** Type ids of `pg_type` with a rule here; for all others the libraries agree. */
export const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const;

/**
 * `int8` is a number where a double is exact, else a bigint. `numeric`, `date` and `timestamp` stay text: a JavaScript
 * type would lose digits or add a time zone.
 */
export const decoders: Readonly<Record<number, (text: string) => unknown>> = {
  [OID.int8]: (text) => {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : BigInt(text);
  },
  [OID.numeric]: (text) => text,
  [OID.date]: (text) => text,
  [OID.timestamp]: (text) => text,
  [OID.timestamptz]: parseTimestamptz,
  [OID.bytea]: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  [OID.json]: (text) => JSON.parse(text) as unknown,
  [OID.jsonb]: (text) => JSON.parse(text) as unknown,
};

/** `2026-11-21 10:00:00.5+05:30`, DateStyle ISO; the offset may lack its minutes. */
function parseTimestamptz(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
}

/**
 * A parameter in PostgreSQL's text format. Arrays become array literals and other objects become JSON, so a JSON
 * *array* must be passed as text (`JSON.stringify`).
 */
export function encode(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return encodeObject(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new TypeError(`A ${typeof value} cannot be a query parameter.`);
}

function encodeObject(value: object | null): string | null {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return encodeArray(value);
  return JSON.stringify(value);
}

/** Array literal (PostgreSQL manual, "Array Input and Output Syntax"); quoting every element saves a check. */
function encodeArray(values: readonly unknown[]): string {
  const elements = values.map((value) => {
    if (Array.isArray(value)) return encodeArray(value);
    const text = encode(value);
    return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${elements.join(',')}}`;
}
