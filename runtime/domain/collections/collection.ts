/** Reads and writes one domain-center collection: validation, composite merge, typed errors, change notices. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type ChangeNotices, type NoticePayload, type Schema, SqlError, SQLSTATE } from '../../storage/index.ts';
import { DuplicateError, EntityInUseError, EntityNotFoundError, InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition, Input, Row } from './definition.ts';
import { type CollectionQuery, countRows, selectRows } from './query.ts';
import { at, referredFirst } from './several.ts';
import { refuseUnstorable } from './storable.ts';
import { entityValidator } from './validator.ts';

/**
 * A change: `after` undefined means removed, `before` undefined means created. For a change of another node, `before`
 * has only the plain, visible fields: no composites, lists and secrets.
 */
export interface Change<Entity extends Row> {
  readonly before: Entity | undefined;
  readonly after: Entity | undefined;
}

/** How a write is done. */
export interface WriteOptions {
  /** Checks and answers like a write, in a transaction that is rolled back: nothing changes, and nobody is notified. */
  readonly dryRun?: boolean;
}

/** An entity to change, with the given fields. */
export interface EntityChange {
  readonly id: string;
  readonly fields: Input;
}

export type ChangeListener<Entity extends Row> = (change: Change<Entity>) => void | Promise<void>;

export class Collection<Entity extends Row> {
  readonly definition: CollectionDefinition;
  readonly #db: Kysely<Schema>;
  readonly #validate: (entity: Input) => void;
  readonly #listeners = new Set<ChangeListener<Entity>>();
  readonly #resetListeners = new Set<() => void | Promise<void>>();
  /** Undefined on a single node. */
  readonly #notices: ChangeNotices | undefined;
  readonly #now: () => Date;
  /** Settles after the last write and its notices, so that listeners see changes in database order. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  /**
   * @param db the database, or a transaction of the caller
   * @param notices change notices between nodes; absent on a single node
   */
  constructor(
    definition: CollectionDefinition,
    db: Kysely<Schema>,
    notices?: ChangeNotices,
    now: () => Date = () => new Date(),
  ) {
    this.definition = definition;
    this.#notices = notices;
    notices?.subscribe(definition.table, {
      notice: (payload) => this.#changedElsewhere(payload),
      gap: () => this.#reset(),
    });
    this.#db = db;
    this.#validate = entityValidator(definition);
    this.#now = now;
  }

  /**
   * Calls `listener` after each write through this object, before the write returns. Returns the function that
   * unsubscribes.
   */
  onChange(listener: ChangeListener<Entity>): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `listener` when changes of other nodes may have been missed: caches reload. */
  onReset(listener: () => void | Promise<void>): () => void {
    this.#resetListeners.add(listener);
    return () => void this.#resetListeners.delete(listener);
  }

  async get(id: string): Promise<Entity | undefined> {
    const { rows } = await sql<Entity>`select * from ${this.#table} where id = ${id}`.execute(this.#db);
    return rows[0];
  }

  async list(): Promise<readonly Entity[]> {
    const { rows } = await sql<Entity>`select * from ${this.#table} order by id`.execute(this.#db);
    return rows;
  }

  /** The entities of a query, in order. */
  select(query: CollectionQuery): Promise<readonly Entity[]> {
    return selectRows<Entity>(this.#db, this.definition, query);
  }

  /** The number of entities of a query, regardless of its page. */
  count(query: CollectionQuery): Promise<number> {
    return countRows(this.#db, this.definition, query);
  }

  /**
   * Creates an entity, with a new id unless given.
   *
   * @throws InvalidFieldError, DuplicateError
   */
  async create(input: Input, { dryRun = false }: WriteOptions = {}): Promise<Entity> {
    const entity = await this.#complete(input);
    const insert = (db: Kysely<Schema>): Promise<Entity> => this.#insert(db, entity);
    if (dryRun) return await this.#rolledBack(insert);
    return await this.#inTurn(async () => {
      const single = this.definition.record === undefined && this.#notices === undefined;
      const after = single ? await insert(this.#db) : await this.#transaction(insert);
      await this.#notify({ before: undefined, after });
      return after;
    });
  }

  /**
   * Creates all or none, in the given order; an entity that others refer to is created before them.
   *
   * @throws InvalidFieldError, DuplicateError with the index of the entity before the field
   */
  async createAll(inputs: readonly Input[], { dryRun = false }: WriteOptions = {}): Promise<readonly Entity[]> {
    const entities = await Promise.all(inputs.map((input, index) => at(index, () => this.#complete(input))));
    const insertAll = async (db: Kysely<Schema>): Promise<readonly Entity[]> => {
      const made: Entity[] = [];
      for (const index of referredFirst(entities, this.definition.selfReference))
        made[index] = await at(index, () => this.#insert(db, entities[index] ?? {}));
      return made;
    };
    if (dryRun) return await this.#rolledBack(insertAll);
    return await this.#inTurn(async () => {
      const made = await this.#transaction(insertAll);
      for (const after of made) await this.#notify({ before: undefined, after });
      return made;
    });
  }

  /** @throws InvalidFieldError */
  async #complete(input: Input): Promise<Input> {
    const time = this.#now().toISOString();
    const given: Input = { ...this.definition.defaults, id: randomUUID(), ...input };
    const entity = { ...given, ...this.#mergedComposites({}, given) };
    if (isObject(entity['ext'])) entity['ext'] = { ...entity['ext'], ct: time, lwt: time };
    this.#validate(entity);
    refuseUnstorable(this.definition.entity, entity);
    return { ...entity, ...(await this.definition.prepare?.(input)) };
  }

  /**
   * Changes the given fields. Composite fields are merged by first-level keys; null (or the text `null`) removes a key.
   *
   * @param precondition called with the present entity in the transaction; an exception prevents the change
   * @throws EntityNotFoundError, InvalidFieldError, DuplicateError
   */
  async update(
    id: string,
    input: Input,
    precondition?: (before: Entity) => void,
    { dryRun = false }: WriteOptions = {},
  ): Promise<Entity> {
    const prepared = await this.#prepared(id, input);
    const change = (db: Kysely<Schema>) => this.#change(db, id, input, prepared, precondition);
    if (dryRun) return (await this.#rolledBack(change)).after;
    return await this.#inTurn(async () => {
      const changed = await this.#transaction(change);
      await this.#notify(changed);
      return changed.after;
    });
  }

  /**
   * Changes all or none, in the given order.
   *
   * @throws as `update`, with the index of the entity before the field
   */
  async updateAll(changes: readonly EntityChange[], { dryRun = false }: WriteOptions = {}): Promise<readonly Entity[]> {
    const prepared = await Promise.all(
      changes.map(({ id, fields }, index) => at(index, () => this.#prepared(id, fields))),
    );
    const changeAll = async (db: Kysely<Schema>) => {
      const changed: { before: Entity; after: Entity }[] = [];
      for (const [index, { id, fields }] of changes.entries())
        changed.push(await at(index, () => this.#change(db, id, fields, prepared[index], undefined)));
      return changed;
    };
    if (dryRun) return (await this.#rolledBack(changeAll)).map(({ after }) => after);
    return await this.#inTurn(async () => {
      const changed = await this.#transaction(changeAll);
      for (const change of changed) await this.#notify(change);
      return changed.map(({ after }) => after);
    });
  }

  /** @throws InvalidFieldError for a changed id */
  async #prepared(id: string, input: Input): Promise<Input | undefined> {
    if (input['id'] !== undefined && input['id'] !== id)
      throw new InvalidFieldError(this.definition.entity, 'id', 'cannot be changed', input['id']);
    return await this.definition.prepare?.(input);
  }

  /** @param precondition as in `update`. @throws EntityNotFoundError, EntityInUseError */
  async remove(id: string, precondition?: (before: Entity) => void): Promise<void> {
    await this.#inTurn(async () => {
      const remove = (db: Kysely<Schema>): Promise<Entity> => this.#delete(id, db, precondition);
      const isChecked = this.definition.checkRemoval !== undefined || precondition !== undefined;
      const single = !isChecked && this.#notices === undefined;
      const before = single ? await remove(this.#db) : await this.#transaction(remove);
      await this.#notify({ before, after: undefined });
    });
  }

  async #insert(db: Kysely<Schema>, entity: Input): Promise<Entity> {
    const row = await this.#columns(entity, undefined, db);
    const names = Object.keys(row);
    const after = await this.#write(
      sql<Entity>`
        insert into ${this.#table} (${sql.join(names.map((name) => sql.id(name)))})
        values (${sql.join(names.map((name) => this.#value(name, row[name])))})
        returning *`,
      db,
    );
    await this.definition.record?.(after, undefined, db);
    await this.#publish(after.id, undefined, db);
    return after;
  }

  async #change(
    db: Kysely<Schema>,
    id: string,
    input: Input,
    prepared: Input | undefined,
    precondition: ((before: Entity) => void) | undefined,
  ): Promise<{ before: Entity; after: Entity }> {
    const { rows } = await sql<Entity>`select * from ${this.#table} where id = ${id} for update`.execute(db);
    const before = rows[0];
    if (before === undefined) throw new EntityNotFoundError(this.definition.entity, id);
    precondition?.(before);
    const entity = this.#merge(before, input);
    this.#validate(entity);
    refuseUnstorable(this.definition.entity, input);
    const { id: _, ...row } = await this.#columns({ ...entity, ...prepared }, before, db);
    const assignments = Object.entries(row).map(([name, value]) => sql`${sql.id(name)} = ${this.#value(name, value)}`);
    const statement = sql<Entity>`
      update ${this.#table} set ${sql.join(assignments)} where id = ${id} returning *`;
    const after = await this.#write(statement, db);
    await this.definition.record?.(after, before, db);
    await this.#publish(id, before, db);
    return { before, after };
  }

  async #delete(id: string, db: Kysely<Schema>, precondition?: (before: Entity) => void): Promise<Entity> {
    try {
      const { rows } = await sql<Entity>`delete from ${this.#table} where id = ${id} returning *`.execute(db);
      const before = rows[0];
      if (before === undefined) throw new EntityNotFoundError(this.definition.entity, id);
      precondition?.(before);
      await this.definition.checkRemoval?.(before, db);
      await this.#publish(id, before, db);
      return before;
    } catch (error) {
      if (error instanceof SqlError && error.code === SQLSTATE.foreignKeyViolation) {
        throw new EntityInUseError(this.definition.entity, id, error.table ?? 'other entities', { cause: error });
      }
      throw error;
    }
  }

  /** Sent when the transaction commits. */
  async #publish(id: string, before: Entity | undefined, db: Kysely<Schema>): Promise<void> {
    const told = before === undefined ? null : this.#plainFields(before);
    await this.#notices?.publish(this.definition.table, { id, before: told }, db);
  }

  #plainFields(row: Entity): { readonly [name: string]: NoticePayload } {
    const { hidden } = this.definition;
    return Object.fromEntries(
      Object.entries(row).filter(
        (field): field is [string, string | number | boolean | null] =>
          !hidden.includes(field[0]) && (field[1] === null || typeof field[1] !== 'object'),
      ),
    );
  }

  async #changedElsewhere(payload: NoticePayload): Promise<void> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- published by another node
    const { id, before } = payload as unknown as { id: string; before: Entity | null };
    await this.#inTurn(async () => {
      const after = await this.get(id);
      // Removed again before it could be read.
      if (before !== null || after !== undefined) await this.#notify({ before: before ?? undefined, after });
    });
  }

  async #reset(): Promise<void> {
    await this.#inTurn(async () => {
      for (const listener of this.#resetListeners) await listener();
    });
  }

  async #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#lastWrite.then(write);
    this.#lastWrite = written.catch(() => undefined);
    return await written;
  }

  get #table(): RawBuilder<unknown> {
    return sql.table(this.definition.table);
  }

  #value(column: string, value: unknown): RawBuilder<unknown> {
    const { json, composites } = this.definition;
    return json.includes(column) || composites.includes(column) ? sql`${JSON.stringify(value)}::jsonb` : sql`${value}`;
  }

  /** The complete entity after the change, without hidden columns. */
  #merge(before: Entity, input: Input): Input {
    const { hidden } = this.definition;
    const visible = Object.entries(before).filter(([name, value]) => !hidden.includes(name) && value !== null);
    const entity: Record<string, unknown> = {
      ...Object.fromEntries(visible),
      ...input,
      ...this.#mergedComposites(before, input),
    };
    const times = { ct: asObject(before['ext'])['ct'], lwt: this.#now().toISOString() };
    if (isObject(entity['ext'])) entity['ext'] = { ...entity['ext'], ...times };
    return entity;
  }

  /** Composites of another type are left to the validation. */
  #mergedComposites(before: Input, input: Input): Record<string, unknown> {
    const given = this.definition.composites.filter((name) => input[name] === undefined || isObject(input[name]));
    return Object.fromEntries(
      given.map((name) => [name, mergeComposite(asObject(before[name]), asObject(input[name]))]),
    );
  }

  async #columns(entity: Input, before: Row | undefined, db: Kysely<Schema>): Promise<Input> {
    const { writeOnly } = this.definition;
    const derived = await this.definition.derive?.(entity, before, db);
    const columns = Object.entries({ ...entity, ...derived });
    return Object.fromEntries(columns.filter(([name, value]) => !writeOnly.includes(name) && value !== undefined));
  }

  async #write(statement: RawBuilder<Entity>, db: Kysely<Schema>): Promise<Entity> {
    try {
      const { rows } = await statement.execute(db);
      const row = rows[0];
      if (row === undefined) throw new Error(`The write of a ${this.definition.entity} returned no row.`);
      return row;
    } catch (error) {
      throw this.#blame(error);
    }
  }

  #blame(error: unknown): unknown {
    if (!(error instanceof SqlError)) return error;
    const { entity, constraints, table } = this.definition;
    const field = error.constraint === `${table}_pkey` ? 'id' : constraints[error.constraint ?? ''];
    if (field === undefined) return error;
    if (error.code === SQLSTATE.uniqueViolation) return new DuplicateError(entity, field, { cause: error });
    if (error.code === SQLSTATE.foreignKeyViolation)
      return new InvalidFieldError(entity, field, 'names an unknown entity');
    return error;
  }

  async #transaction<T>(action: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.#db.isTransaction ? await action(this.#db) : await this.#db.transaction().execute(action);
  }

  /** Does the work in a transaction, and takes it back. @returns its result */
  async #rolledBack<T>(action: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    try {
      return await this.#db.transaction().execute(async (db) => {
        throw new RolledBack(await action(db));
      });
    } catch (error) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thrown above
      if (error instanceof RolledBack) return error.result as T;
      throw error;
    }
  }

  async #notify(change: Change<Entity>): Promise<void> {
    for (const listener of this.#listeners) await listener(change);
  }
}

/** Ends the transaction of a dry run. */
class RolledBack extends Error {
  override readonly name = 'RolledBack';
  readonly result: unknown;

  constructor(result: unknown) {
    super('rolled back');
    this.result = result;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function mergeComposite(before: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  const merged = Object.entries({ ...before, ...given });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== 'null'));
}
