/** Parses the parameters of a list for a class, for tables and memory alike. */
import type { PropertyDefinition, ResolvedClass } from './class-definition.ts';
import { isPartitioned } from './class-settings.ts';
import { BadParameterError } from './errors.ts';
import {
  applyMask,
  type Expression,
  ExpressionParser,
  flatten,
  type Grouping,
  intersect,
  type Mask,
  type OrderEntry,
  parseFilter,
  parseGrouping,
  parseMask,
  parseOrder,
  resultTypes,
  type ValueType,
} from './filter/index.ts';
import { isManaged } from './property-value.ts';
import { timeProperty } from './resolve-class.ts';
import { parseTime } from './filter/time.ts';
import type { ListQuery } from './model.ts';

/** Half-open, milliseconds since the epoch. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface ParsedQuery {
  readonly filter: Expression | undefined;
  /** With grouping: refers to the result names. */
  readonly order: readonly OrderEntry[];
  readonly grouping: Grouping | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly countOnly: boolean;
  /** Only for partitioned classes. */
  readonly interval: Interval | undefined;
  readonly shape: (fields: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** The selected fields, when `shape` only drops fields; undefined when it does more. */
  readonly plain: { readonly mask: Mask | undefined } | undefined;
}

/** The filter type of a property. */
export function valueTypeOf({ data_type: type, multi }: PropertyDefinition): ValueType {
  switch (type) {
    case 'any':
    case 'attachment':
      return 'json';
    case 'boolean':
      return multi ? 'boolean[]' : 'boolean';
    case 'string':
    case 'enum':
      return multi ? 'text[]' : 'text';
    case 'integer':
    case 'long':
    case 'float':
    case 'increment':
      return multi ? 'number[]' : 'number';
    default:
      return type satisfies never;
  }
}

const knownTypes = new WeakMap<ResolvedClass, ReadonlyMap<string, ValueType>>();

export function fieldTypes(definition: ResolvedClass): ReadonlyMap<string, ValueType> {
  const known = knownTypes.get(definition) ?? makeFieldTypes(definition);
  knownTypes.set(definition, known);
  return known;
}

function makeFieldTypes(definition: ResolvedClass): ReadonlyMap<string, ValueType> {
  const types = definition.allProperties.map((property) => [property.name, valueTypeOf(property)] as const);
  return new Map([['id', 'text'], ...types]);
}

/** @throws BadParameterError */
export function parseQuery(definition: ResolvedClass, query: ListQuery, now: number): ParsedQuery {
  const fields = fieldTypes(definition);
  const parser = (): ExpressionParser => new ExpressionParser({ fields, now });
  const grouping = parseGrouping(parser(), query.aggr ?? undefined, query.groupby ?? undefined);
  const orderFields = grouping === undefined ? fields : resultTypes(grouping);
  const { max_limit: maxLimit } = definition.opts;
  const limit = size(query.limit, 'limit') ?? maxLimit;
  const mask = maskOf(definition, query, grouping);
  return {
    filter: both(
      query.within === undefined ? undefined : parseFilter(parser(), query.within),
      query.filter === undefined ? undefined : parseFilter(parser(), query.filter),
    ),
    order: query.order === undefined ? [] : parseOrder(new ExpressionParser({ fields: orderFields, now }), query.order),
    grouping,
    offset: size(query.offset, 'offset') ?? 0,
    limit: Math.min(limit, maxLimit),
    countOnly: query.countonly === true || limit === 0,
    interval: isPartitioned(definition.storage_mode) ? parseInterval(query.interval) : undefined,
    shape: listShaper(definition, query, mask, grouping !== undefined),
    plain: query.flat === true || (query.export === true && grouping === undefined) ? undefined : { mask },
  };
}

function both(one: Expression | undefined, other: Expression | undefined): Expression | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { kind: 'call', type: 'boolean', name: 'and', args: [one, other] };
}

/** Applies `mask` and `flat` to an entity. */
export function shaper({ mask, flat }: Pick<ListQuery, 'mask' | 'flat'>): ParsedQuery['shape'] {
  return shaped(parseMask(mask), flat === true);
}

function shaped(mask: Mask | undefined, flat: boolean): ParsedQuery['shape'] {
  return (fields) => (flat ? flatten(applyMask(fields, mask)) : applyMask(fields, mask));
}

/** The fields selected in a list, limited by the class's `max_mask`. */
function maskOf(definition: ResolvedClass, query: ListQuery, grouping: Grouping | undefined): Mask | undefined {
  if (grouping !== undefined) return parseMask(query.mask, new Set(resultTypes(grouping).keys()));
  const mask = parseMask(query.mask);
  const { max_mask: max } = definition.opts;
  return max === '' ? mask : intersect(mask, parseMask(max));
}

/** Like `shaper`, for list rows; for `export` in a form that can be posted again. */
function listShaper(
  definition: ResolvedClass,
  query: ListQuery,
  mask: Mask | undefined,
  isGrouped: boolean,
): ParsedQuery['shape'] {
  if (isGrouped || query.export !== true) return shaped(mask, query.flat === true);
  const importable = exporter(definition);
  return (fields) => applyMask(importable(fields), mask);
}

/** Drops absent fields and those written by the platform; writes the partition time as ISO 8601. */
function exporter(definition: ResolvedClass): ParsedQuery['shape'] {
  const time = isPartitioned(definition.storage_mode) ? timeProperty(definition) : undefined;
  const managed = new Set(definition.allProperties.filter(isManaged).map(({ name }) => name));
  return (fields) => {
    const entries = Object.entries(fields).filter(([name, value]) => value !== null && !managed.has(name));
    return Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        name === time && typeof value === 'number' ? new Date(value).toISOString() : value,
      ]),
    );
  };
}

function size(value: number | undefined, field: string): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new BadParameterError(field, 'must be an integer from 0');
}

/** `["from", "to"]`. @throws BadParameterError */
export function parseInterval(input: unknown): Interval {
  if (input === undefined)
    throw new BadParameterError('interval', 'is required: ["from", "to"], ISO 8601 or milliseconds');
  if (!Array.isArray(input) || input.length !== 2) throw new BadParameterError('interval', 'must be ["from", "to"]');
  const [from, to] = input.map((each: unknown, index) => {
    const time = typeof each === 'string' ? (/^-?\d{5,}$/.test(each) ? Number(each) : parseTime(each)) : each;
    if (typeof time === 'number' && Number.isSafeInteger(time)) return time;
    throw new BadParameterError('interval', 'must be an ISO 8601 time or milliseconds', `interval[${index}]`);
  }) as [number, number];
  if (from >= to) throw new BadParameterError('interval', 'must begin before it ends');
  return { from, to };
}

export const DAY_MS = 86_400_000;

/** The UTC day of an entity path. @throws BadParameterError */
export function parseDate(definition: ResolvedClass, date: string | undefined): Interval | undefined {
  if (!isPartitioned(definition.storage_mode)) return undefined;
  const from = date === undefined || date.length !== 10 ? null : parseTime(date);
  if (from === null) throw new BadParameterError('date', 'must stand before the id as YYYY-MM-DD (UTC)');
  return { from, to: from + DAY_MS };
}
