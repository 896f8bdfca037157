/** Finds the entities of a query, in its order. */
import { type Expression, First, type OrderEntry, sortItems, toPredicate } from '../filter/index.ts';
import type { PropertyDefinition } from '../class-definition.ts';
import type { Entity } from '../fields.ts';
import type { ParsedQuery } from '../query.ts';
import { sorted } from './in-order.ts';
import type { MemoryStore } from './memory-store.ts';
import { Slices } from './slices.ts';
import type { ValueRange } from './sorted-entities.ts';

/** Number of entities examined without a pause. */
const FEW = 1000;
/** Pages that end before this are kept while scanning; for later pages all matches are sorted. */
const NEAR = 4096;
/** An index without the wanted order is used when the whole store is this many times larger. */
const MUCH_SMALLER = 8;

/** Candidates for a query. */
interface Source {
  readonly batches: Iterable<readonly Entity[]>;
  /** The candidates are in the wanted order. */
  readonly isOrdered: boolean;
  readonly isSmall: boolean;
}

/** The page of a query. */
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
  // A copy, so that concurrent writes do not matter.
  for (const id of Array.from(least ?? [])) {
    const entity = store.get(id);
    if (entity !== undefined && wanted.every(({ name, value }) => entity[name] === value)) first.add(entity);
    if (slices.isOver) await slices.pause();
  }
  return first.items();
}

/** All matches, in order. */
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

/** Visits all matches, unordered. */
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

/** All present matches in batches, in order of id; later writes are not included. */
export function matches(store: MemoryStore, filter: Expression | undefined): AsyncIterable<readonly Entity[]> {
  // The view is taken now, not with the first batch.
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

/** @param look returns false to stop */
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

/** The smallest set of candidates that the indexes offer. */
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

/** Entities with a value required by the filter, when an index shows that they are few. */
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

/** The property that the query sorts by; the id by default. */
function orderingOf(
  order: readonly OrderEntry[],
): { readonly property: string; readonly descending: boolean } | undefined {
  const [first, ...rest] = order;
  if (first === undefined) return { property: 'id', descending: false };
  const { expression, descending } = first;
  // Every order ends with the id.
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

/** Ranges of properties required by the filter. */
function rangesOf(filter: Expression | undefined): ReadonlyMap<string, ValueRange> {
  const ranges = new Map<string, ValueRange>();
  for (const { property, comparison: name, value } of comparisons(filter)) {
    // Each of several bounds is valid; one suffices.
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

/** Comparisons of a property with a literal that the filter requires. */
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

/** Rows of groups: in the requested order, then by group, like PostgreSQL. */
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
