/** Which entities of a store a query means, and in which order. */
import { type Expression, sortItems, toPredicate } from '../filter/index.ts';
import type { Entity } from '../model.ts';
import type { ParsedQuery } from '../query.ts';
import type { MemoryStore } from './memory-store.ts';

export function* select(store: MemoryStore, filter: Expression | undefined): Iterable<Entity> {
  if (filter === undefined) {
    yield* store.values();
    return;
  }
  const matches = toPredicate(filter);
  for (const entity of candidates(store, filter)) if (matches(entity)) yield entity;
}

/** By index where the filter asks for a value of an indexed property, else all. */
function candidates(store: MemoryStore, filter: Expression): Iterable<Entity> {
  for (const { property, value } of equalities(filter)) {
    const ids = property === 'id' ? [String(value)] : store.find(property, value);
    if (ids !== undefined) return Array.from(ids, (id) => store.get(id)).filter((entity) => entity !== undefined);
  }
  return store.values();
}

/** The equalities with a literal that must hold for the filter to hold. */
function* equalities(filter: Expression): Iterable<{ readonly property: string; readonly value: unknown }> {
  if (filter.kind !== 'call') return;
  if (filter.name === 'and') for (const arg of filter.args) yield* equalities(arg);
  if (filter.name !== 'equal') return;
  const [a, b] = filter.args;
  const property = [a, b].find((arg) => arg?.kind === 'property');
  const literal = [a, b].find((arg) => arg?.kind === 'const');
  if (property?.kind !== 'property' || literal?.kind !== 'const') return;
  if (property.keys.length === 0 && literal.value !== null) yield { property: property.name, value: literal.value };
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
