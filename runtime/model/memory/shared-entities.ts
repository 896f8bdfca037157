/**
 * Entities kept in memory by every node of a shared database (storage modes ram and runtime). A table is the authority:
 * a write locks its row there, and its notice is sent with the commit. Each node applies the notices of all nodes, its
 * own included. Reads use memory only.
 */
import type { Kysely } from 'kysely';
import { type Schema, sql, type Storage } from '../../storage/index.ts';
import { ConflictError, StaleClassError } from '../errors.ts';
import type { Entity } from '../fields.ts';
import type { StoredClass } from '../stored-class.ts';
import { freeze } from './conversion.ts';
import { nextNumbers, withNumbers } from './numbers.ts';
import type { OwnWrite, OwnWrites } from './own-writes.ts';
import { claimUnique, forgetUnique, takeUnique } from './shared-unique.ts';

type Db = Kysely<Schema>;

/** One committed entity. */
export interface SharedEntity {
  readonly id: string;
  /** Undefined: removed. */
  readonly entity: Entity | undefined;
  /** Increases with each write of the same id. */
  readonly version: number;
  /** End of its lifetime, milliseconds since the epoch. */
  readonly expires: number | undefined;
}

/** Result of a write. */
export interface Written {
  readonly before: Entity | undefined;
  readonly entity: Entity | undefined;
}

/** The next state of an entity; undefined removes it. */
export type Decide = (before: Entity | undefined) => Entity | undefined;

/** End of an entity written now; undefined: unchanged. */
export type Expiry = (isNew: boolean) => number | undefined;

export interface SharedEntitiesOptions {
  readonly storage: Storage;
  readonly current: () => StoredClass;
  readonly own: OwnWrites;
  /** Sends a message to all nodes, to this one with the mark, when `tx` commits. */
  readonly publish: (message: SharedMessage, mark: number, tx: Db) => Promise<void>;
  /** Applies a message, on every node. */
  readonly follow: (message: SharedMessage) => void;
  /** The notice of a write is missing: memory has to be reloaded. */
  readonly onOverdue: () => Promise<void>;
}

/** Messages between nodes about one class. */
export type SharedMessage =
  | { readonly kind: 'entity'; readonly classId: string; readonly shape: number; readonly written: SharedEntity }
  | {
      readonly kind: 'entities';
      readonly classId: string;
      readonly shape: number;
      readonly written: readonly SharedEntity[];
    }
  | { readonly kind: 'clear'; readonly classId: string; readonly version: number };

/** Advisory locks of memory classes, by number: shared for single writes, exclusive for operations on all entities. */
const CLASS_LOCK = 727_464_003;
/** Milliseconds until the notice of an own write must arrive. */
const OVERDUE_MS = 5_000;
/** Entities per statement and notice: between notices, nodes do other work. */
const SET = 500;

export class SharedEntities {
  readonly #options: SharedEntitiesOptions;

  constructor(options: SharedEntitiesOptions) {
    this.#options = options;
  }

  /**
   * Writes one entity, with its row locked. Resolves when this node has applied the write.
   *
   * @param decide may be called again when another node wrote first
   * @throws ConflictError, StaleClassError, and errors of `decide`
   */
  async write(id: string, decide: Decide, expiry: Expiry): Promise<Written> {
    for (;;) {
      const written = await this.#inTransaction((tx, write) => this.#tryWrite(tx, write, id, decide, expiry));
      if (written !== undefined) return written;
    }
  }

  /**
   * Creates entities, all or none.
   *
   * @param make called while the class is locked against changes
   * @throws ConflictError, StaleClassError, and errors of `make`
   */
  async createAll(make: () => Promise<readonly Entity[]>, expiry: Expiry): Promise<readonly Entity[]> {
    const { id: classId } = this.#options.current();
    return await this.#inTransaction(async (tx, write) => {
      const stored = await this.#requireCurrent(tx);
      const made = await make();
      const entities = withNumbers(stored, made, await nextNumbers(tx, stored, made.length)).map(freeze);
      const expires = expiry(true);
      for (let from = 0; from < entities.length; from += SET) {
        const set = entities.slice(from, from + SET);
        const { rows } = await sql<{ id: string }>`
          insert into model_memory (class_id, id, entity, version, expires)
          select ${classId}, e.id, e.entity, 0, ${expires ?? null}::bigint
          from unnest(${set.map(({ id }) => id)}::text[], ${set.map((each) => JSON.stringify(each))}::jsonb[]) e (id, entity)
          on conflict do nothing returning id`.execute(tx);
        const placed = new Set(rows.map(({ id }) => id));
        const taken = set.findIndex(({ id }) => !placed.has(id));
        if (taken >= 0) throw new ConflictError(`${from + taken}.id`);
        await takeUnique(tx, stored, set, from);
      }
      // While the rows are locked, so that later writes get later versions.
      const version = await nextVersion(tx);
      await sql`
        update model_memory set version = ${version}::bigint
        where class_id = ${classId} and id = any(${entities.map(({ id }) => id)}::text[])`.execute(tx);
      for (let from = 0; from < entities.length; from += SET) {
        const set = entities.slice(from, from + SET);
        const written = set.map((entity) => ({ id: entity.id, entity, version, expires }));
        await this.#publish({ kind: 'entities', classId, shape: stored.shape, written }, write, tx);
      }
      return entities;
    });
  }

  /** Removes all entities. Resolves when this node has applied the removal. */
  async clear(): Promise<void> {
    const { id: classId, number } = this.#options.current();
    await this.#inTransaction(async (tx, write) => {
      await lockClass(tx, number);
      await sql`delete from model_memory where class_id = ${classId}`.execute(tx);
      await sql`delete from model_memory_unique where class_id = ${classId}`.execute(tx);
      await this.#publish({ kind: 'clear', classId, version: await nextVersion(tx) }, write, tx);
    }, false);
  }

  /** All entities, and a version newer than all of them. */
  async load(): Promise<{ readonly entities: readonly SharedEntity[]; readonly version: number }> {
    const { storage, current } = this.#options;
    const version = await nextVersion(storage.db);
    const { rows } = await sql<{ id: string; entity: Entity; version: number; expires: number | null }>`
      select id, entity, version, expires from model_memory where class_id = ${current().id} order by id`.execute(
      storage.db,
    );
    return { entities: rows.map(({ expires, ...row }) => ({ ...row, expires: expires ?? undefined })), version };
  }

  /**
   * Converts entities to a changed class, in the transaction of the change. The class is locked against writes until it
   * ends.
   *
   * @throws errors of `convert`
   */
  async convert(tx: Db, next: StoredClass, convert: (entities: readonly Entity[]) => readonly Entity[]): Promise<void> {
    await lockClass(tx, next.number);
    const { rows } = await sql<{ entity: Entity }>`
      select entity from model_memory where class_id = ${next.id} order by id`.execute(tx);
    const converted = convert(rows.map(({ entity }) => entity));
    await sql`delete from model_memory_unique where class_id = ${next.id}`.execute(tx);
    for (let from = 0; from < converted.length; from += SET) {
      const set = converted.slice(from, from + SET);
      await sql`
        update model_memory m set entity = e.entity
        from unnest(${set.map(({ id }) => id)}::text[], ${set.map((each) => JSON.stringify(each))}::jsonb[]) e (id, entity)
        where m.class_id = ${next.id} and m.id = e.id`.execute(tx);
      await takeUnique(tx, next, set, from);
    }
  }

  /** Deletes ended entities from the table; every node removes them from memory by itself. */
  async removeEnded(now: number): Promise<void> {
    const { storage, current } = this.#options;
    const { id } = current();
    await sql`
      with ended as (delete from model_memory where class_id = ${id} and expires <= ${now}::bigint returning id)
      delete from model_memory_unique u using ended where u.class_id = ${id} and u.id = ended.id`.execute(storage.db);
  }

  async #tryWrite(tx: Db, write: OwnWrite, id: string, decide: Decide, expiry: Expiry): Promise<Written | undefined> {
    const stored = this.#options.current();
    const { rows } = await sql<{ shape: number; entity: Entity | null; expires: number | null }>`
      select c.shape, m.entity, m.expires from model_classes c
      left join lateral (
        select entity, expires from model_memory where class_id = c.id and id = ${id} for update
      ) m on true
      where c.id = ${stored.id}`.execute(tx);
    const [row] = rows;
    if (row?.shape !== stored.shape) throw new StaleClassError();
    const before = row.entity ?? undefined;
    const decided = decide(before);
    if (decided === undefined && before === undefined) return { before, entity: decided };
    const isNew = before === undefined;
    const after =
      isNew && decided !== undefined ? withNumbers(stored, [decided], await nextNumbers(tx, stored, 1))[0] : decided;
    const expires = after === undefined ? undefined : (expiry(isNew) ?? row.expires ?? undefined);
    if (isNew) {
      const inserted = await sql`
        insert into model_memory (class_id, id, entity, version)
        values (${stored.id}, ${id}, ${JSON.stringify(after)}::jsonb, 0)
        on conflict do nothing returning id`.execute(tx);
      // Another node created it meanwhile: decide again with the new state.
      if (inserted.rows.length === 0) return undefined;
    }
    if (after === undefined) await forgetUnique(tx, stored, id);
    else await claimUnique(tx, stored, before, after);
    // While the row is locked, so that later writes get later versions.
    const version =
      after === undefined ? await removeRow(tx, stored, id) : await updateRow(tx, stored, after, expires ?? null);
    const written = { id, entity: after, version, expires };
    await this.#publish({ kind: 'entity', classId: stored.id, shape: stored.shape, written }, write, tx);
    return { before, entity: after };
  }

  /** @throws StaleClassError when this node's class definition is outdated */
  async #requireCurrent(tx: Db): Promise<StoredClass> {
    const stored = this.#options.current();
    const { rows } = await sql<{ shape: number }>`select shape from model_classes where id = ${stored.id}`.execute(tx);
    if (rows[0]?.shape !== stored.shape) throw new StaleClassError();
    return stored;
  }

  async #publish(message: SharedMessage, write: OwnWrite, tx: Db): Promise<void> {
    const { own, publish, follow } = this.#options;
    const mark = own.expect(write, () => follow(message));
    await publish(message, mark, tx);
  }

  /** @param isShared true for single writes; a class change waits for all of them */
  async #inTransaction<T>(run: (tx: Db, write: OwnWrite) => Promise<T>, isShared = true): Promise<T> {
    const { storage, current, own, onOverdue } = this.#options;
    const write = own.begin();
    const { number } = current();
    let result: T;
    try {
      result = await storage.db.transaction().execute(async (tx) => {
        // Every node has the entities in memory, so the commit need not wait for the disk.
        const begin = sql`select set_config('synchronous_commit', 'off', true)`;
        const lock = sql`, pg_advisory_xact_lock_shared(${CLASS_LOCK}::integer, ${number}::integer)`;
        await sql`${begin}${isShared ? lock : sql``}`.execute(tx);
        return await run(tx, write);
      });
    } catch (error) {
      own.forget(write);
      throw error;
    }
    if (!(await own.followed(write, OVERDUE_MS))) {
      own.forget(write);
      await onOverdue();
    }
    return result;
  }
}

/** Deletes the entities of earlier nodes: memory entities end with the last node. */
export async function forgetShared(db: Db): Promise<void> {
  await sql`delete from model_memory`.execute(db);
  await sql`delete from model_memory_unique`.execute(db);
}

/** Deletes the entities of a removed class. */
export async function forgetClass(tx: Db, { id, number }: StoredClass): Promise<void> {
  await lockClass(tx, number);
  await sql`delete from model_memory where class_id = ${id}`.execute(tx);
  await sql`delete from model_memory_unique where class_id = ${id}`.execute(tx);
}

/** Locks the class against writes until the transaction ends. */
async function lockClass(tx: Db, number: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLASS_LOCK}::integer, ${number}::integer)`.execute(tx);
}

async function removeRow(tx: Db, stored: StoredClass, id: string): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    with gone as (delete from model_memory where class_id = ${stored.id} and id = ${id})
    select nextval('model_memory_versions') as version`.execute(tx);
  return rows[0]?.version ?? 0;
}

async function updateRow(tx: Db, stored: StoredClass, after: Entity, expires: number | null): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    update model_memory set entity = ${JSON.stringify(after)}::jsonb, version = nextval('model_memory_versions'),
      expires = ${expires}::bigint
    where class_id = ${stored.id} and id = ${after.id} returning version`.execute(tx);
  return rows[0]?.version ?? 0;
}

async function nextVersion(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`select nextval('model_memory_versions') as version`.execute(db);
  return rows[0]?.version ?? 0;
}
