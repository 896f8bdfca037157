/**
 * Increments of entities in memory. Where the nodes share entities, a sequence of the database numbers them, as it does for a
 * table; elsewhere the node counts.
 */
import type { Kysely } from 'kysely';
import { type Schema, sql } from '../../storage/index.ts';
import type { ResolvedClass } from '../class-definition.ts';
import { CannotApplyError } from '../errors.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';
import { sequenceOf } from '../table/names.ts';

type Db = Kysely<Schema>;

/** The increment of a class; it has one at most. */
export function incrementOf({ allProperties }: ResolvedClass): string | undefined {
  return allProperties.find(({ data_type: type }) => type === 'increment')?.name;
}

/** New entities with their numbers, one each. */
export function withNumbers(
  definition: ResolvedClass,
  entities: readonly Entity[],
  numbers: readonly number[],
): readonly Entity[] {
  const name = incrementOf(definition);
  if (name === undefined) return entities;
  return entities.map((entity, index) => ({ ...entity, [name]: numbers[index] ?? null }));
}

/** The next numbers of a class whose entities the nodes share; none where it has no increment. */
export async function nextNumbers(db: Db, stored: StoredClass, count: number): Promise<readonly number[]> {
  const name = incrementOf(stored);
  if (name === undefined) return [];
  const sequence = sequenceOf(stored, name).statement().text;
  const { rows } = await sql<{ number: number }>`
    select nextval(${sequence}::regclass) as number from generate_series(1, ${count}::integer)`.execute(db);
  return rows.map(({ number }) => number);
}

/** The sequences of a class in memory, after a change of it. */
export async function alterSequences(db: Db, before: StoredClass | undefined, after: StoredClass): Promise<void> {
  const name = incrementOf(after);
  const old = before === undefined ? undefined : incrementOf(before);
  if (before !== undefined && old !== undefined && old !== name) {
    await sql`drop sequence if exists ${sequenceOf(before, old)}`.execute(db);
  }
  if (name !== undefined) await sql`create sequence if not exists ${sequenceOf(after, name)}`.execute(db);
}

/** @throws CannotApplyError for an increment that entities which are there would not have */
export function refuseNewIncrement(before: ResolvedClass, next: ResolvedClass, entities: readonly Entity[]): void {
  const name = incrementOf(next);
  if (name === undefined || name === incrementOf(before) || entities.length === 0) return;
  throw new CannotApplyError(`properties.${name}`, 'cannot become an increment while there are entities in memory');
}
