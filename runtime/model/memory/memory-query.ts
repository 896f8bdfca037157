/** Which entities of a store a query means, and in which order. */
import { type Expression, First, type OrderEntry, sortItems, toPredicate } from '../filter/index.ts';
import type { PropertyDefinition } from '../class-definition.ts';
import type { Entity } from '../fields.ts';
import type { ParsedQuery } from '../query.ts';
import { sorted } from './in-order.ts';
import type { MemoryStore } from './memory-store.ts';
import { Slices } from './slices.ts';
import type { ValueRange } from './sorted-entities.ts';

/** So many entities are looked at in one go. */
const FEW = 1000;
/** Pages that end before this are kept while looking; for others all that match are sorted. */
const NEAR = 4096;
/** A part of the store is worth losing the order for when the whole is so many times larger. */
const MUCH_SMALLER = 8;

/** Entities that may match. */
interface Source {
  readonly batches: Iterable<readonly Entity[]>;
  /** They come in the order that is wanted. */
  readonly isOrdered: boolean;
  readonly isSmall: boolean;
}

/** The page that a query asks for. */
export async function findPage(store: MemoryStore, query: ParsedQuery): Promise<readonly Entity[]> {
  const { filter, order, offset, limit } = query;
  const source = sourceOf(store, filter, order);
  const end = offset + limit;
  if (source.isOrdered) {
    const found: Entity[] = [];
    let count = 0;
    await visit(source, filter, (entity) => {
      if (count >= offset) found.push(entity);
      count += 1;
      return count < end;
    });
    return found;
  }
  if (end <= NEAR) {
    const first = new First<Entity>(order, end);
    await visit(source, filter, (entity) => {
      first.add(entity);
      return true;
    });
    return first.items().slice(offset);
  }
  return (await sortAll(source, query)).slice(offset, end);
}

/** The first `limit` entities with these values, in order of id. */
export async function findByKeys(
  store: MemoryStore,
  keys: readonly { readonly property: PropertyDefinition | undefined; readonly value: unknown }[],
  limit: number,
): Promise<readonly Entity[]> {
  const wanted = keys.map(({ property, value }) => ({ name: property?.name ?? 'id', value }));
  const sets = wanted.map(({ name, value }) => (name === 'id' ? new Set([String(value)]) : store.find(name, value)));
  const [least] = sets.filter((ids) => ids !== undefined).toSorted((a, b) => a.size - b.size);
  const first = new First<Entity>([], limit);
  const slices = await Slices.begin();
  // A copy: what is written meanwhile does not matter.
  for (const id of Array.from(least ?? [])) {
    const entity = store.get(id);
    if (entity !== undefined && wanted.every(({ name, value }) => entity[name] === value)) first.add(entity);
    if (slices.isOver) await slices.pause();
  }
  return first.items();
}

/** All that match, in their order. */
export async function findAll(store: MemoryStore, query: ParsedQuery): Promise<readonly Entity[]> {
  return await sortAll(sourceOf(store, query.filter, query.order), query);
}

async function sortAll(source: Source, { filter, order }: ParsedQuery): Promise<readonly Entity[]> {
  const found: Entity[] = [];
  await visit(source, filter, (entity) => {
    found.push(entity);
    return true;
  });
  if (source.isOrdered) return found;
  return found.length <= FEW ? sortItems(found, order) : await sorted(found, order, await Slices.begin());
}

/** Looks at all that match, in no particular order. */
export async function forEachMatch(
  store: MemoryStore,
  filter: Expression | undefined,
  look: (entity: Entity) => void,
): Promise<void> {
  await visit(sourceOf(store, filter), filter, (entity) => {
    look(entity);
    return true;
  });
}

export async function countMatches(store: MemoryStore, filter: Expression | undefined): Promise<number> {
  if (filter === undefined) return store.size;
  let count = 0;
  await forEachMatch(store, filter, () => {
    count += 1;
  });
  return count;
}

/** All that match now, some at a time, in order of id: what is written while they are read is not among them. */
export function matches(store: MemoryStore, filter: Expression | undefined): AsyncIterable<readonly Entity[]> {
  // The view is taken at once, not with the first batch.
  return filtered(store.view('id')?.batches() ?? [], filter === undefined ? undefined : toPredicate(filter));
}

async function* filtered(
  batches: Iterable<readonly Entity[]>,
  isWanted: ((entity: Entity) => boolean) | undefined,
): AsyncGenerator<readonly Entity[]> {
  const slices = await Slices.begin();
  for (const batch of batches) {
    if (isWanted === undefined) {
      yield batch;
      continue;
    }
    const found: Entity[] = [];
    for (const entity of batch) {
      if (isWanted(entity)) found.push(entity);
      if (slices.isOver) await slices.pause();
    }
    if (found.length > 0) yield found;
  }
}

/** @param look false: no more */
async function visit(
  { batches, isSmall }: Source,
  filter: Expression | undefined,
  look: (entity: Entity) => boolean,
): Promise<void> {
  const isWanted = filter === undefined ? undefined : toPredicate(filter);
  const slices = isSmall ? undefined : await Slices.begin();
  for (const batch of batches) {
    for (const entity of batch) {
      if ((isWanted === undefined || isWanted(entity)) && !look(entity)) return;
      if (slices?.isOver === true) await slices.pause();
    }
  }
}

/** The least that must be looked at, as far as indexes tell. */
function sourceOf(store: MemoryStore, filter: Expression | undefined, order?: readonly OrderEntry[]): Source {
  const few = fewest(store, filter);
  if (few !== undefined) return { batches: [few], isOrdered: false, isSmall: true };
  const isSmall = store.size <= FEW;
  const ranges = rangesOf(filter);
  const ordering = order === undefined ? undefined : orderingOf(order);
  const inOrder = ordering === undefined ? undefined : store.view(ordering.property);
  const range = ordering === undefined ? undefined : ranges.get(ordering.property);
  const size = inOrder?.count(range) ?? store.size;
  for (const [property, other] of ranges) {
    const view = store.view(property);
    if (view === undefined || view.count(other) * MUCH_SMALLER > size) continue;
    return { batches: view.batches(other), isOrdered: false, isSmall };
  }
  if (inOrder !== undefined && ordering !== undefined) {
    return { batches: inOrder.batches(range, ordering.descending), isOrdered: true, isSmall };
  }
  return { batches: store.view('id')?.batches() ?? [], isOrdered: false, isSmall };
}

/** The entities with a value that the filter asks for, where an index knows that they are few. */
function fewest(store: MemoryStore, filter: Expression | undefined): readonly Entity[] | undefined {
  let least: ReadonlySet<string> | undefined;
  for (const { property, value } of conditions(filter)) {
    const ids = property === 'id' ? new Set([String(value)]) : store.find(property, value);
    if (ids !== undefined && ids.size < (least?.size ?? FEW)) least = ids;
  }
  return least === undefined
    ? undefined
    : Array.from(least, (id) => store.get(id)).filter((entity) => entity !== undefined);
}

/** The property whose order is that of the query; the id, where none is asked for. */
function orderingOf(
  order: readonly OrderEntry[],
): { readonly property: string; readonly descending: boolean } | undefined {
  const [first, ...rest] = order;
  if (first === undefined) return { property: 'id', descending: false };
  const { expression, descending } = first;
  // The id ends every order.
  const isWhole = rest.every(
    (entry) => entry.expression.kind === 'property' && entry.expression.name === 'id' && !entry.descending,
  );
  if (!isWhole || expression.kind !== 'property' || expression.keys.length > 0) return undefined;
  return { property: expression.name, descending };
}

type Comparison = 'equal' | 'less' | 'less_or_equal' | 'greater' | 'greater_or_equal';

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  equal: 'equal',
  less: 'greater',
  less_or_equal: 'greater_or_equal',
  greater: 'less',
  greater_or_equal: 'less_or_equal',
};

interface Condition {
  readonly property: string;
  readonly comparison: Comparison;
  readonly value: unknown;
}

/** Ranges of properties outside of which the filter does not hold. */
function rangesOf(filter: Expression | undefined): ReadonlyMap<string, ValueRange> {
  const ranges = new Map<string, ValueRange>();
  for (const { property, comparison: name, value } of comparisons(filter)) {
    // Any one of several limits is a limit.
    const { low, high } = ranges.get(property) ?? {};
    const end = { value, inclusive: !(name === 'less' || name === 'greater') };
    const isLow = name !== 'less' && name !== 'less_or_equal';
    const isHigh = name !== 'greater' && name !== 'greater_or_equal';
    ranges.set(property, { low: low ?? (isLow ? end : undefined), high: high ?? (isHigh ? end : undefined) });
  }
  return ranges;
}

function* conditions(filter: Expression | undefined): Iterable<Condition> {
  for (const condition of comparisons(filter)) if (condition.comparison === 'equal') yield condition;
}

/** The comparisons of a property with a literal that must hold for the filter to hold. */
function* comparisons(filter: Expression | undefined): Iterable<Condition> {
  if (filter?.kind !== 'call') return;
  const { name, args } = filter;
  if (name === 'and') for (const arg of args) yield* comparisons(arg);
  if (name === 'between') {
    const [value, low, high] = args;
    yield* comparison(value, 'greater_or_equal', low);
    yield* comparison(value, 'less_or_equal', high);
  }
  if (!Object.hasOwn(MIRRORED, name)) return;
  const [a, b] = args;
  yield* comparison(a, name as Comparison, b);
  yield* comparison(b, MIRRORED[name as Comparison], a);
}

function* comparison(
  property: Expression | undefined,
  name: Comparison,
  literal: Expression | undefined,
): Iterable<Condition> {
  if (property?.kind !== 'property' || property.keys.length > 0) return;
  if (literal?.kind !== 'const' || literal.value === null || literal.type !== property.type) return;
  yield { property: property.name, comparison: name, value: literal.value };
}

export function page<T>(items: readonly T[], { offset, limit }: ParsedQuery): readonly T[] {
  return items.slice(offset, offset + limit);
}

/** Rows of groups: as asked, then by the groups, as PostgreSQL does. */
export function sortRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  { order, grouping }: ParsedQuery,
): readonly Readonly<Record<string, unknown>>[] {
  const groups = (grouping?.groups ?? []).map(({ name, expression }) => ({
    expression: { kind: 'property' as const, type: expression.type, name, keys: [] },
    descending: false,
  }));
  return sortItems(rows, [...order, ...groups]);
}
