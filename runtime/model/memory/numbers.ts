/**
 * Increments of entities in memory. A database sequence numbers shared entities, as it does for tables; otherwise the
 * node counts.
 */
import type { Kysely } from 'kysely';
import { type Schema, sql } from '../../storage/index.ts';
import type { ResolvedClass } from '../class-definition.ts';
import { CannotApplyError } from '../errors.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';
import { sequenceOf } from '../table/names.ts';

type Db = Kysely<Schema>;

/** The increment of a class; there is at most one. */
export function incrementOf({ allProperties }: ResolvedClass): string | undefined {
  return allProperties.find(({ data_type: type }) => type === 'increment')?.name;
}

/** Numbers new entities, one each. */
export function withNumbers(
  definition: ResolvedClass,
  entities: readonly Entity[],
  numbers: readonly number[],
): readonly Entity[] {
  const name = incrementOf(definition);
  if (name === undefined) return entities;
  return entities.map((entity, index) => ({ ...entity, [name]: numbers[index] ?? null }));
}

/** The next increments of a class with shared entities; empty for a class without increment. */
export async function nextNumbers(db: Db, stored: StoredClass, count: number): Promise<readonly number[]> {
  const name = incrementOf(stored);
  if (name === undefined) return [];
  const sequence = sequenceOf(stored, name).statement().text;
  const { rows } = await sql<{ number: number }>`
    select nextval(${sequence}::regclass) as number from generate_series(1, ${count}::integer)`.execute(db);
  return rows.map(({ number }) => number);
}

/** Creates and drops sequences after a change of a class in memory. */
export async function alterSequences(db: Db, before: StoredClass | undefined, after: StoredClass): Promise<void> {
  const name = incrementOf(after);
  const old = before === undefined ? undefined : incrementOf(before);
  if (before !== undefined && old !== undefined && old !== name) {
    await sql`drop sequence if exists ${sequenceOf(before, old)}`.execute(db);
  }
  if (name !== undefined) await sql`create sequence if not exists ${sequenceOf(after, name)}`.execute(db);
}

/** @throws CannotApplyError for a new increment while entities exist */
export function refuseNewIncrement(before: ResolvedClass, next: ResolvedClass, entities: readonly Entity[]): void {
  const name = incrementOf(next);
  if (name === undefined || name === incrementOf(before) || entities.length === 0) return;
  throw new CannotApplyError(`properties.${name}`, 'cannot become an increment while the class has entities in memory');
}
