/**
 * Entities that every node has in memory (storage modes ram and runtime) where several nodes share a database. A table is
 * what the nodes agree on: a write locks its row there, and its notice leaves with the commit. Reads ask the memory only.
 */
import type { Kysely } from 'kysely';
import { sql } from '../../storage/sql.ts';
import { type Schema, type Storage, SqlError, SQLSTATE } from '../../storage/index.ts';
import type { PropertyDefinition } from '../class-definition.ts';
import { ConflictError } from '../errors.ts';
import { canonical } from '../filter/values.ts';
import type { Entity } from '../model.ts';
import type { StoredClass } from '../stored-class.ts';

type Db = Kysely<Schema>;

/** One entity as the nodes agreed on it. */
export interface SharedEntity {
  readonly id: string;
  /** Undefined: it was removed. */
  readonly entity: Entity | undefined;
  /** Grows with each write of the same id. */
  readonly version: number;
  /** When it ends, milliseconds since the epoch. */
  readonly expires: number | undefined;
}

export interface SharedWrite extends SharedEntity {
  readonly before: Entity | undefined;
}

/** What an entity becomes; undefined removes it. */
export type Decide = (before: Entity | undefined) => Entity | undefined;

export interface SharedEntitiesOptions {
  readonly storage: Storage;
  readonly current: () => StoredClass;
  /** Tells the other nodes, with the commit of `tx`. */
  readonly publish: (written: SharedEntity, tx: Db) => Promise<void>;
  readonly publishClear: (version: number, tx: Db) => Promise<void>;
}

export class SharedEntities {
  readonly #options: SharedEntitiesOptions;

  constructor(options: SharedEntitiesOptions) {
    this.#options = options;
  }

  /**
   * Writes one entity; nobody writes it in between.
   *
   * @param decide may be called again when another node was faster
   * @throws ConflictError, and whatever `decide` throws
   */
  async write(
    id: string,
    decide: Decide,
    expiry: (after: Entity, isNew: boolean) => number | undefined,
  ): Promise<SharedWrite> {
    for (;;) {
      const written = await this.#inTransaction((tx) => this.#tryWrite(tx, id, decide, expiry));
      if (written !== undefined) return written;
    }
  }

  /** @returns the version up to which entities are gone */
  async clear(): Promise<number> {
    const { publishClear } = this.#options;
    const { id } = this.#options.current();
    return await this.#inTransaction(async (tx) => {
      const version = await nextVersion(tx);
      await sql`delete from model_memory where class_id = ${id}`.execute(tx);
      await sql`delete from model_memory_unique where class_id = ${id}`.execute(tx);
      await publishClear(version, tx);
      return version;
    });
  }

  /** All entities, and a version that is newer than all of them. */
  async load(): Promise<{ readonly entities: readonly SharedEntity[]; readonly version: number }> {
    const { storage, current } = this.#options;
    const version = await nextVersion(storage.db);
    const { rows } = await sql<{ id: string; entity: Entity; version: number; expires: number | null }>`
      select id, entity, version, expires from model_memory where class_id = ${current().id} order by id`.execute(
      storage.db,
    );
    return { entities: rows.map(({ expires, ...row }) => ({ ...row, expires: expires ?? undefined })), version };
  }

  /** Entities in the form that a changed class gives them, in the transaction that changes it. */
  async convert(tx: Db, next: StoredClass, entities: readonly Entity[]): Promise<void> {
    await sql`delete from model_memory_unique where class_id = ${next.id}`.execute(tx);
    for (const entity of entities) {
      await sql`
        insert into model_memory (class_id, id, entity, version)
        values (${next.id}, ${entity.id}, ${JSON.stringify(entity)}::jsonb, nextval('model_memory_versions'))
        on conflict (class_id, id) do update set entity = excluded.entity`.execute(tx);
      await this.#claim(tx, next, undefined, entity);
    }
  }

  /** Entities whose end has come; every node removes them by itself. */
  async removeEnded(now: number): Promise<void> {
    const { storage, current } = this.#options;
    const { id } = current();
    await sql`
      with ended as (delete from model_memory where class_id = ${id} and expires <= ${now}::bigint returning id)
      delete from model_memory_unique u using ended where u.class_id = ${id} and u.id = ended.id`.execute(storage.db);
  }

  async #tryWrite(
    tx: Db,
    id: string,
    decide: Decide,
    expiry: (after: Entity, isNew: boolean) => number | undefined,
  ): Promise<SharedWrite | undefined> {
    const stored = this.#options.current();
    const { rows } = await sql<{ entity: Entity; expires: number | null }>`
      select entity, expires from model_memory where class_id = ${stored.id} and id = ${id} for update`.execute(tx);
    const [row] = rows;
    const before = row?.entity;
    const after = decide(before);
    if (after === undefined && before === undefined)
      return { id, before, entity: after, version: 0, expires: undefined };
    const expires =
      after === undefined ? undefined : (expiry(after, before === undefined) ?? row?.expires ?? undefined);
    if (after === undefined) {
      await sql`delete from model_memory where class_id = ${stored.id} and id = ${id}`.execute(tx);
      await sql`delete from model_memory_unique where class_id = ${stored.id} and id = ${id}`.execute(tx);
    } else if (before === undefined) {
      const inserted = await sql`
        insert into model_memory (class_id, id, entity, version, expires)
        values (${stored.id}, ${id}, ${JSON.stringify(after)}::jsonb, 0, ${expires ?? null}::bigint)
        on conflict do nothing returning id`.execute(tx);
      // Another node has made it meanwhile: what it becomes now depends on that.
      if (inserted.rows.length === 0) return undefined;
    }
    if (after !== undefined) await this.#claim(tx, stored, before, after);
    // While the row is locked: later writes have later versions.
    const version = await nextVersion(tx);
    if (after !== undefined) {
      await sql`
        update model_memory set entity = ${JSON.stringify(after)}::jsonb, version = ${version}::bigint,
          expires = ${expires ?? null}::bigint
        where class_id = ${stored.id} and id = ${id}`.execute(tx);
    }
    const written = { id, entity: after, version, expires };
    await this.#options.publish(written, tx);
    return { ...written, before };
  }

  /** Takes the unique values of an entity. @throws ConflictError */
  async #claim(tx: Db, stored: StoredClass, before: Entity | undefined, after: Entity): Promise<void> {
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

  /** What every node has in memory need not wait for a disk. */
  async #inTransaction<T>(run: (tx: Db) => Promise<T>): Promise<T> {
    return await this.#options.storage.db.transaction().execute(async (tx) => {
      await sql`set local synchronous_commit = off`.execute(tx);
      return await run(tx);
    });
  }
}

/** What the last set of nodes has left behind: entities in memory do not outlive them. */
export async function forgetShared(db: Db): Promise<void> {
  await sql`delete from model_memory`.execute(db);
  await sql`delete from model_memory_unique`.execute(db);
}

/** The entities of a class that is removed. */
export async function forgetClass(db: Db, id: string): Promise<void> {
  await sql`delete from model_memory where class_id = ${id}`.execute(db);
  await sql`delete from model_memory_unique where class_id = ${id}`.execute(db);
}

function claimed({ name }: PropertyDefinition, entity: Entity | undefined): string | undefined {
  const value = entity?.[name] ?? null;
  return value === null ? undefined : canonical(value);
}

async function nextVersion(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`select nextval('model_memory_versions') as version`.execute(db);
  return rows[0]?.version ?? 0;
}
