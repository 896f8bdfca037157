/** Fields of recordings for filters and orders. */
import { sql } from '../storage/index.ts';
import type { filters } from '../model/index.ts';

const TEXTS = [
  'id',
  'domain_id',
  'domain',
  'idconn',
  'inviteid',
  'dialogid',
  'layer',
  'rule_id',
  'storage',
  'status',
  'reason',
  'sha256',
  'reclink',
  'asr_status',
] as const;
const NUMBERS = ['startts', 'endts', 'length', 'size', 'asr_since'] as const;
const JSONS = ['parties', 'transcript'] as const;

function fieldsOf(names: readonly string[], type: filters.SqlField['type']): [string, filters.SqlField][] {
  const collation = type === 'text' ? sql` collate "C"` : sql``;
  return names.map((name) => [name, { type, sql: sql`(${sql.id(name)}${collation})`, isInteger: type === 'number' }]);
}

/** The filterable fields of a recording, as columns. */
export const RECORD_COLUMNS: ReadonlyMap<string, filters.SqlField> = new Map([
  ...fieldsOf(TEXTS, 'text'),
  ...fieldsOf(NUMBERS, 'number'),
  ...fieldsOf(JSONS, 'json'),
]);

/** The same by type. */
export const RECORD_TYPES: filters.FieldTypes = { get: (name) => RECORD_COLUMNS.get(name)?.type };
