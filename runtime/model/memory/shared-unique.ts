/** Unique values of shared entities: one row per value, which prevents a second owner. */
import type { Kysely } from 'kysely';
import { type Schema, sql, SqlError, SQLSTATE } from '../../storage/index.ts';
import type { PropertyDefinition } from '../class-definition.ts';
import { ConflictError } from '../errors.ts';
import { canonical } from '../filter/values.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';

type Db = Kysely<Schema>;

/** Claims the unique values of an entity and releases its former ones. @throws ConflictError */
export async function claimUnique(
  tx: Db,
  stored: StoredClass,
  before: Entity | undefined,
  after: Entity,
): Promise<void> {
  for (const property of stored.allProperties) {
    if (!property.unique) continue;
    const [old, value] = [claimed(property, before), claimed(property, after)];
    if (old === value) continue;
    if (old !== undefined) {
      await sql`delete from model_memory_unique
        where class_id = ${stored.id} and property = ${property.name} and id = ${after.id}`.execute(tx);
    }
    if (value === undefined) continue;
    try {
      await sql`insert into model_memory_unique (class_id, property, value, id)
        values (${stored.id}, ${property.name}, ${value}, ${after.id})`.execute(tx);
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== SQLSTATE.uniqueViolation) throw error;
      throw new ConflictError(property.name, { cause: error });
    }
  }
}

/**
 * Claims the unique values of new entities.
 *
 * @param first index of the first entity, for the error
 * @throws ConflictError
 */
export async function takeUnique(
  tx: Db,
  stored: StoredClass,
  entities: readonly Entity[],
  first: number,
): Promise<void> {
  for (const property of stored.allProperties) {
    if (!property.unique) continue;
    const values = entities.map((entity) => claimed(property, entity));
    const { rows } = await sql<{ id: string }>`
      insert into model_memory_unique (class_id, property, value, id)
      select ${stored.id}, ${property.name}, e.value, e.id
      from unnest(${entities.map(({ id }) => id)}::text[], ${values.map((value) => value ?? null)}::text[]) e (id, value)
      where e.value is not null
      on conflict do nothing returning id`.execute(tx);
    const holders = new Set(rows.map(({ id }) => id));
    const taken = entities.findIndex(({ id }, index) => values[index] !== undefined && !holders.has(id));
    if (taken >= 0) throw new ConflictError(`${first + taken}.${property.name}`);
  }
}

/** Releases the unique values of a removed entity. */
export async function forgetUnique(tx: Db, { id: classId, allProperties }: StoredClass, id: string): Promise<void> {
  if (!allProperties.some(({ unique }) => unique)) return;
  await sql`delete from model_memory_unique where class_id = ${classId} and id = ${id}`.execute(tx);
}

function claimed({ name }: PropertyDefinition, entity: Entity | undefined): string | undefined {
  const value = entity?.[name] ?? null;
  return value === null ? undefined : canonical(value);
}
