import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The dynamic model: class settings, a schema for the tables of classes, and SQL functions of filter expressions that
 * PostgreSQL lacks or that would raise an error instead of returning null. `runtime/model/filter/values.ts` and
 * `time.ts` compute the same in memory.
 */
const STATEMENTS = [
  `create schema model`,
  `create table model_classes (
    id text primary key,
    -- Names the table of the class and its columns: no name of a user is ever an SQL name.
    number integer generated always as identity,
    domain_id text not null,
    classname text not null,
    name text not null default '',
    description text not null default '',
    parent_id text,
    storage_mode text not null,
    properties jsonb not null default '[]',
    opts jsonb not null default '{}',
    ext jsonb not null default '{}',
    -- Column of each property, by name, inherited ones included; numbers are never used again.
    columns jsonb not null default '{}',
    next_column integer not null default 1,
    version integer not null default 1,
    constraint model_classes_classname_key unique (domain_id, classname)
  )`,
  // JSON as a plain type; null when it is of another.
  `create function model.text(j jsonb) returns text language sql immutable parallel safe as
    $$ select case when jsonb_typeof(j) = 'string' then j #>> '{}' end $$`,
  `create function model.number(j jsonb) returns float8 language sql immutable parallel safe as
    $$ select case when jsonb_typeof(j) = 'number' then (j #>> '{}')::float8 end $$`,
  `create function model.boolean(j jsonb) returns boolean language sql immutable parallel safe as
    $$ select case when jsonb_typeof(j) = 'boolean' then (j #>> '{}')::boolean end $$`,
  // Arithmetic without overflow, underflow and division by zero.
  `create function model.add(a float8, b float8) returns float8 language sql immutable parallel safe as
    $$ select case when abs(a) <= 1e150 and abs(b) <= 1e150 then a + b end $$`,
  `create function model.sub(a float8, b float8) returns float8 language sql immutable parallel safe as
    $$ select case when abs(a) <= 1e150 and abs(b) <= 1e150 then a - b end $$`,
  `create function model.mul(a float8, b float8) returns float8 language sql immutable parallel safe as
    $$ select case when a is null or b is null then null when a = 0 or b = 0 then 0
      when abs(a) between 1e-150 and 1e150 and abs(b) between 1e-150 and 1e150 then a * b end $$`,
  `create function model.div(a float8, b float8) returns float8 language sql immutable parallel safe as
    $$ select case when a is null or b is null or b = 0 then null when a = 0 then 0
      when abs(a) between 1e-150 and 1e150 and abs(b) between 1e-150 and 1e150 then a / b end $$`,
  `create function model.mod(a float8, b float8) returns float8 language sql immutable parallel safe as
    $$ select case when a is null or b is null or b = 0 then null when a = 0 then 0
      when abs(a) between 1e-15 and 1e15 and abs(b) between 1e-15 and 1e15 then a - b * trunc(a / b) end $$`,
  `create function model.round(a float8) returns float8 language sql immutable parallel safe as
    $$ select sign(a) * floor(abs(a) + 0.5) $$`,
  `create function model.between_numbers(x float8, low float8, high float8) returns boolean
    language sql immutable parallel safe as $$ select x >= low and x <= high $$`,
  `create function model.between_texts(x text, low text, high text) returns boolean
    language sql immutable parallel safe as
    $$ select x collate "C" >= low collate "C" and x collate "C" <= high collate "C" $$`,
  // Texts.
  `create function model.lower(t text) returns text language sql immutable parallel safe as
    $$ select lower(t collate "default") $$`,
  `create function model.upper(t text) returns text language sql immutable parallel safe as
    $$ select upper(t collate "default") $$`,
  `create function model.ends_with(t text, ending text) returns boolean language sql immutable parallel safe as
    $$ select right(t, char_length(ending)) = ending $$`,
  `create function model.substr(t text, start float8, count float8) returns text language sql immutable parallel safe as
    $$ select substr(t, (1 + least(greatest(floor(start), 0), 1e9))::integer,
      least(greatest(floor(count), 0), 1e9)::integer) $$`,
  // Lists in JSON.
  `create function model.contains(list jsonb, item jsonb) returns boolean language sql immutable parallel safe as
    $$ select case when jsonb_typeof(list) = 'array'
      then exists (select from jsonb_array_elements(list) as e (value) where e.value = item) end $$`,
  `create function model.contains_all(list jsonb, items jsonb) returns boolean language sql immutable parallel safe as
    $$ select case when jsonb_typeof(list) = 'array' and jsonb_typeof(items) = 'array'
      then not exists (select from jsonb_array_elements(items) as i (value)
        where not exists (select from jsonb_array_elements(list) as e (value) where e.value = i.value)) end $$`,
  `create function model.contains_any(list jsonb, items jsonb) returns boolean language sql immutable parallel safe as
    $$ select case when jsonb_typeof(list) = 'array' and jsonb_typeof(items) = 'array'
      then exists (select from jsonb_array_elements(items) as i (value)
        where exists (select from jsonb_array_elements(list) as e (value) where e.value = i.value)) end $$`,
  `create function model.size(list jsonb) returns integer language sql immutable parallel safe as
    $$ select case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end $$`,
  // Times in milliseconds since the epoch, UTC, years 1 to 9999.
  `create function model.utc(ms float8) returns timestamp language sql immutable parallel safe as
    $$ select case when ms >= -62135596800000 and ms < 253402300800000
      then timestamp '1970-01-01' + floor(ms / 86400000)::integer * interval '1 day'
        + (floor(ms) - floor(ms / 86400000) * 86400000) * interval '1 millisecond' end $$`,
  `create function model.ms(t timestamp) returns float8 language sql immutable parallel safe as
    $$ select extract(epoch from t)::float8 * 1000 $$`,
  `create function model.trunc(unit text, ms float8) returns float8 language sql immutable parallel safe as
    $$ select case when ms >= -62135596800000 and ms < 253402300800000 then case unit
      when 'second' then floor(ms / 1000) * 1000
      when 'minute' then floor(ms / 60000) * 60000
      when 'hour' then floor(ms / 3600000) * 3600000
      when 'day' then floor(ms / 86400000) * 86400000
      when 'week' then floor((ms - 345600000) / 604800000) * 604800000 + 345600000
      else model.ms(date_trunc(unit, model.utc(ms))) end end $$`,
  `create function model.part(unit text, ms float8) returns float8 language sql immutable parallel safe as
    $$ select date_part(unit, model.utc(ms)) $$`,
  `create function model.ts(t text) returns float8 language plpgsql immutable parallel safe as $$
    begin
      if t ~ '^\\d{4}-\\d\\d-\\d\\d([T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,3})?)?(Z|[+-](0\\d|1[0-4]):[0-5]\\d)?)?$' then
        return extract(epoch from (case when t ~ '[T ].*(Z|[+-]\\d\\d:\\d\\d)$' then t
          when length(t) = 10 then t || 'T00:00Z' else t || 'Z' end)::timestamptz)::float8 * 1000;
      end if;
      return null;
    exception when others then
      return null;
    end $$`,
];

export const model: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
