/** Reads and writes one domain-center collection: validation, composite merge, typed errors, change notices. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type ChangeNotices, type NoticePayload, type Schema, SqlError, SQLSTATE } from '../../storage/index.ts';
import { DuplicateError, EntityInUseError, EntityNotFoundError, InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition, Input, Pending, Row, Settled } from './definition.ts';
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
  /** `last` settles after the last write and its notices, so that listeners see changes in database order. */
  #turn: { last: Promise<unknown> } = { last: Promise.resolve() };
  /** Collections whose entities `settle` changes, too, by table. */
  readonly #linked: Collection<Entity>[] = [this];

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

  /** Links two collections: writes of one may change entities of the other (`settle`), so they take turns. */
  static link<Entity extends Row>(one: Collection<Entity>, other: Collection<Entity>): void {
    other.#turn = one.#turn;
    one.#linked.push(other);
    other.#linked.push(one);
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
    const pending = [{ entity, before: undefined }];
    const { definition } = this;
    const isSingle = definition.record === undefined && definition.settle === undefined && this.#notices === undefined;
    const [after] = await this.#write(async (db) => [await this.#insert(db, entity, pending)], dryRun, isSingle);
    return after as Entity;
  }

  /**
   * Creates all or none, in the given order; an entity that others refer to is created before them.
   *
   * @throws InvalidFieldError, DuplicateError with the index of the entity before the field
   */
  async createAll(inputs: readonly Input[], { dryRun = false }: WriteOptions = {}): Promise<readonly Entity[]> {
    const entities = await Promise.all(inputs.map((input, index) => at(index, () => this.#complete(input))));
    const pending = entities.map((entity) => ({ entity, before: undefined }));
    return await this.#write(async (db) => {
      const made: Written<Entity>[] = [];
      for (const index of referredFirst(entities, this.definition.selfReference))
        made[index] = await at(index, () => this.#insert(db, entities[index] ?? {}, pending));
      return made;
    }, dryRun);
  }

  /** @throws InvalidFieldError */
  async #complete(input: Input): Promise<Input> {
    const time = this.#now().toISOString();
    const { defaults } = this.definition;
    const given: Input = { ...defaults, ...this.definition.defaultsOf?.(input), id: randomUUID(), ...input };
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
    const change = { id, input, prepared };
    const [after] = await this.#write(async (db) => [await this.#change(db, change, undefined, precondition)], dryRun);
    return after as Entity;
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
    const all = changes.map(({ id, fields: input }, index) => ({ id, input, prepared: prepared[index] }));
    return await this.#write(async (db) => {
      const pending: Pending[] = [];
      // What one entity becomes may depend on the others.
      if (this.definition.settle !== undefined)
        for (const [index, change] of all.entries()) pending.push(await at(index, () => this.#resulting(db, change)));
      const changed: Written<Entity>[] = [];
      for (const [index, change] of all.entries())
        changed.push(await at(index, () => this.#change(db, change, pending)));
      return changed;
    }, dryRun);
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
      const remove = async (db: Kysely<Schema>): Promise<Entity> => {
        await this.definition.lock?.(db);
        return await this.#delete(id, db, precondition);
      };
      const isChecked = this.definition.checkRemoval !== undefined || precondition !== undefined;
      const single = !isChecked && this.#notices === undefined;
      const before = single ? await remove(this.#db) : await this.#transaction(remove);
      await this.#notify({ before, after: undefined });
    });
  }

  /**
   * Writes in a transaction, with what follows from it.
   * @param isSingle a single statement, which needs no transaction
   * @returns the entities as they are afterwards
   */
  async #write(
    action: (db: Kysely<Schema>) => Promise<readonly Written<Entity>[]>,
    dryRun: boolean,
    isSingle = false,
  ): Promise<readonly Entity[]> {
    const { definition } = this;
    const work = async (db: Kysely<Schema>): Promise<readonly Written<Entity>[]> => {
      await definition.lock?.(db);
      const written = await action(db);
      const settled = await definition.settle?.(written, db);
      return settled === undefined ? written : await this.#settled(written, settled, db);
    };
    if (dryRun) return (await this.#rolledBack(work)).flatMap(({ after, of }) => (of === undefined ? [after] : []));
    return await this.#inTurn(async () => {
      const written = isSingle ? await work(this.#db) : await this.#transaction(work);
      for (const { of = this, ...change } of written) await of.#notify(change);
      return written.flatMap(({ after, of }) => (of === undefined ? [after] : []));
    });
  }

  /** Adds what followed: of this collection and of linked ones. */
  async #settled(
    written: readonly Written<Entity>[],
    settled: readonly Settled[],
    db: Kysely<Schema>,
  ): Promise<readonly Written<Entity>[]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- rows of these tables
    const all = settled as readonly (Settled & { readonly before: Entity; readonly after: Entity })[];
    const own = new Map(all.flatMap((each) => (each.table === this.definition.table ? [[each.after.id, each]] : [])));
    const others: Written<Entity>[] = [];
    for (const { table, before, after } of all) {
      if (table === this.definition.table && written.some((each) => each.after.id === after.id)) continue;
      const of = this.#linked.find(({ definition }) => definition.table === table) ?? this;
      await of.#publish(after.id, before, db);
      others.push({ before, after, of });
    }
    return [...written.map((each) => ({ ...each, after: own.get(each.after.id)?.after ?? each.after })), ...others];
  }

  async #insert(db: Kysely<Schema>, entity: Input, pending: readonly Pending[]): Promise<Written<Entity>> {
    const row = await this.#columns(entity, undefined, db, pending);
    const names = Object.keys(row);
    const after = await this.#one(
      sql<Entity>`
        insert into ${this.#table} (${sql.join(names.map((name) => sql.id(name)))})
        values (${sql.join(names.map((name) => this.#value(name, row[name])))})
        returning *`,
      db,
    );
    await this.definition.record?.(after, undefined, db);
    await this.#publish(after.id, undefined, db);
    return { before: undefined, after };
  }

  /** The entity as it will be. @throws EntityNotFoundError, InvalidFieldError */
  async #resulting(
    db: Kysely<Schema>,
    { id, input, prepared }: PreparedChange,
    precondition?: (before: Entity) => void,
  ): Promise<{ readonly entity: Input; readonly before: Entity }> {
    const { rows } = await sql<Entity>`select * from ${this.#table} where id = ${id} for update`.execute(db);
    const before = rows[0];
    if (before === undefined) throw new EntityNotFoundError(this.definition.entity, id);
    precondition?.(before);
    const entity = this.#merge(before, input);
    this.#validate(entity);
    refuseUnstorable(this.definition.entity, input);
    return { entity: { ...entity, ...prepared }, before };
  }

  async #change(
    db: Kysely<Schema>,
    change: PreparedChange,
    pending: readonly Pending[] | undefined,
    precondition?: (before: Entity) => void,
  ): Promise<Written<Entity>> {
    const resulting = await this.#resulting(db, change, precondition);
    const { entity, before } = resulting;
    const { id } = before;
    const { id: _, ...row } = await this.#columns(entity, before, db, pending ?? [resulting]);
    const assignments = Object.entries(row).map(([name, value]) => sql`${sql.id(name)} = ${this.#value(name, value)}`);
    const statement = sql<Entity>`
      update ${this.#table} set ${sql.join(assignments)} where id = ${id} returning *`;
    const after = await this.#one(statement, db);
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
    const written = this.#turn.last.then(write);
    this.#turn.last = written.catch(() => undefined);
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

  async #columns(
    entity: Input,
    before: Row | undefined,
    db: Kysely<Schema>,
    pending: readonly Pending[],
  ): Promise<Input> {
    const { writeOnly } = this.definition;
    const derived = await this.definition.derive?.(entity, before, db, pending);
    const columns = Object.entries({ ...entity, ...derived });
    return Object.fromEntries(columns.filter(([name, value]) => !writeOnly.includes(name) && value !== undefined));
  }

  async #one(statement: RawBuilder<Entity>, db: Kysely<Schema>): Promise<Entity> {
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

/** A written entity. */
interface Written<Entity extends Row> {
  readonly before: Entity | undefined;
  readonly after: Entity;
  /** The collection of an entity that followed from the written ones. */
  readonly of?: Collection<Entity>;
}

interface PreparedChange {
  readonly id: string;
  readonly input: Input;
  readonly prepared: Input | undefined;
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
