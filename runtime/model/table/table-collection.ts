/** The entities of one class in PostgreSQL: category, history and transactionlog. */
import { sql, SqlError, type Storage, type TextRow } from '../../storage/index.ts';
import type { Orphans } from '../attachments/orphans.ts';
import type { ResolvedClass } from '../class-definition.ts';
import { isPartitioned } from '../class-settings.ts';
import { parseCommand } from '../commands.ts';
import { checkId, givenTime, makeEntity, patchEntity } from '../entity.ts';
import { CannotApplyError, ConflictError, InvalidFieldError, NotFoundError } from '../errors.ts';
import { allOf } from '../filter/index.ts';
import { lookupKeys } from '../lookup.ts';
import type {
  CreateOptions,
  ListAnswer,
  ListQuery,
  ModelCollection,
  ReadOptions,
  RemoveOptions,
  ReplaceOptions,
  UpdateOptions,
} from '../model.ts';
import type { Entity, Input } from '../fields.ts';
import type { Notices } from '../notices.ts';
import { type Interval, parseDate, parseQuery, shaper } from '../query.ts';
import { timeProperty } from '../resolve-class.ts';
import { makeEntities } from '../several.ts';
import type { StoredClass } from '../stored-class.ts';
import { columnValue } from './definition.ts';
import {
  type Db,
  deleteEntity,
  deleteForUpdate,
  findForUpdate,
  insertAlone,
  insertEntity,
  readRow,
  updateEntity,
  upsertEntity,
} from './entity-statements.ts';
import { appendRows, insertRows, makeRows } from './insert-set.ts';
import { columnOf, tableOf } from './names.ts';
import type { Partitions } from './partitions.ts';
import { rowReader, rowWriter, writeRows } from './columns.ts';
import { countRows, groupRows, listRows, type RunStatement } from './select.ts';
import { masked, shapeOf } from './rows.ts';

export interface TableCollectionOptions {
  readonly storage: Storage;
  readonly partitions: Partitions;
  readonly orphans: Orphans;
  readonly notices: Notices;
  readonly now: () => number;
  /** The current class. */
  readonly current: () => StoredClass;
}

export class TableCollection implements ModelCollection {
  readonly #options: TableCollectionOptions;

  constructor(options: TableCollectionOptions) {
    this.#options = options;
  }

  get definition(): ResolvedClass {
    return this.#class;
  }

  async create(input: Input, { files }: CreateOptions = {}): Promise<Entity> {
    const stored = this.#class;
    const entity = makeEntity(stored, input, undefined, { now: this.#options.now(), files });
    const time = isPartitioned(stored.storage_mode) ? entity[timeProperty(stored)] : undefined;
    const after = await this.#placed(stored, [time], () => insertAlone(this.#run, stored, entity));
    this.#options.notices.created(stored, after);
    return after;
  }

  async createAll(inputs: readonly Input[]): Promise<readonly Entity[]> {
    const stored = this.#class;
    const entities = await makeEntities(stored, inputs, this.#options.now());
    const times = isPartitioned(stored.storage_mode) ? entities.map((entity) => entity[timeProperty(stored)]) : [];
    const rows = await makeRows(stored, entities);
    const write = () => this.#db.transaction().execute((tx) => insertRows(tx, stored, rows));
    const after = await this.#placed(stored, times, write);
    for (const entity of after) this.#options.notices.created(stored, entity);
    return after;
  }

  async append(inputs: readonly Input[]): Promise<void> {
    const stored = this.#class;
    requirePartitions(stored, 'append');
    const entities = await makeEntities(stored, inputs, this.#options.now());
    const times = entities.map((entity) => entity[timeProperty(stored)]);
    const rows = await makeRows(stored, entities);
    await this.#placed(stored, times, () => appendRows(this.#db, stored, rows));
  }

  async list(query: ListQuery): Promise<ListAnswer> {
    const stored = this.#class;
    const parsed = parseQuery(stored, query, this.#options.now());
    if (parsed.countOnly) return { count: await countRows(this.#run, stored, parsed) };
    const { columns, rows } =
      parsed.grouping === undefined
        ? await listRows(this.#run, stored, parsed)
        : await groupRows(this.#run, stored, parsed, parsed.grouping);
    return rows.map(rowReader(columns)).map(parsed.shape);
  }

  async listJson(query: ListQuery): Promise<string> {
    const stored = this.#class;
    const parsed = parseQuery(stored, query, this.#options.now());
    const { plain, grouping } = parsed;
    if (plain !== undefined && !parsed.countOnly) {
      if (grouping !== undefined && plain.mask === undefined) {
        const { columns, rows } = await groupRows(this.#run, stored, parsed, grouping);
        return writeRows(columns, rows);
      }
      const selected = grouping === undefined ? masked(stored, plain.mask) : undefined;
      if (selected !== undefined) {
        const { columns, rows } = await listRows(this.#run, stored, parsed, selected);
        return writeRows(columns, rows);
      }
    }
    return JSON.stringify(await this.list(query));
  }

  async read(id: string, { date, ...shape }: ReadOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    const stored = this.#class;
    return shaper(shape)(shapeOf(stored).readText(await this.#row(stored, id, date)));
  }

  async readJson(id: string, options: ReadOptions = {}): Promise<string> {
    const stored = this.#class;
    if (options.flat === true || (options.mask ?? '') !== '') return JSON.stringify(await this.read(id, options));
    return rowWriter(shapeOf(stored).whole.columns)(await this.#row(stored, id, options.date));
  }

  /** @throws NotFoundError */
  async #row(stored: StoredClass, id: string, date: string | undefined): Promise<TextRow> {
    const row = await readRow(this.#run, stored, { id, day: parseDate(stored, date) });
    if (row === undefined) throw new NotFoundError('Entity', id);
    return row;
  }

  /** For tables, paging is as fast as one large result. */
  async whole(): Promise<undefined> {
    return undefined;
  }

  async replace(id: string, input: Input, { date, files, precondition }: ReplaceOptions = {}): Promise<Entity> {
    const stored = this.#writable('PUT');
    const needsBefore = stored.opts.put_preread || files !== undefined || precondition !== undefined;
    if (!needsBefore && !isPartitioned(stored.storage_mode)) return await this.#place(stored, id, input);
    const day = parseDate(stored, date);
    const given: Input = { ...input, id: sameId(id, input) };
    // A new entity of a day belongs into that day.
    const time = day === undefined ? undefined : (givenTime(stored, input) ?? day.from);
    const placed = day === undefined ? given : { [timeProperty(stored)]: time, ...given };
    if (day !== undefined) checkDay(stored, day, time);
    const now = this.#options.now();
    const write = () =>
      this.#db.transaction().execute(async (tx) => {
        const found = await findForUpdate(tx, stored, { id, day });
        precondition?.(found);
        const entity = makeEntity(stored, found === undefined ? placed : given, found, { now, files });
        const written =
          found === undefined ? await insertEntity(tx, stored, entity) : await updateEntity(tx, stored, day, entity);
        return { before: found, after: written };
      });
    const { before, after } = await this.#placed(stored, [time], () =>
      write().catch((error: unknown) => {
        // Another request created it meanwhile: now it can be replaced.
        if (error instanceof ConflictError && error.field === 'id') return write();
        throw error;
      }),
    );
    await this.#options.orphans.changed(stored, before, after);
    if (before === undefined) this.#options.notices.created(stored, after);
    else this.#options.notices.updated(stored, before, after);
    return after;
  }

  /** PUT in one write, without reading first. */
  async #place(stored: StoredClass, id: string, input: Input): Promise<Entity> {
    const entity = makeEntity(stored, { ...input, id: sameId(id, input) }, undefined, { now: this.#options.now() });
    const after = await upsertEntity(this.#db, stored, entity);
    this.#options.notices.updated(stored, undefined, after);
    return after;
  }

  async update(id: string, input: Input, options: UpdateOptions = {}): Promise<Entity> {
    const stored = this.#writable('PATCH');
    // PATCH may move the entity to another time.
    const time = isPartitioned(stored.storage_mode) ? givenTime(stored, input) : undefined;
    return await this.#patch(stored, id, () => input, time, options);
  }

  async edit(id: string, change: (before: Entity) => Input, options: UpdateOptions = {}): Promise<Entity> {
    return await this.#patch(this.#writable('PATCH'), id, change, undefined, options);
  }

  async #patch(
    stored: StoredClass,
    id: string,
    change: (before: Entity) => Input,
    time: unknown,
    { date, precondition, ...options }: UpdateOptions,
  ): Promise<Entity> {
    const day = parseDate(stored, date);
    const now = this.#options.now();
    const { before, after } = await this.#placed(stored, [time], () =>
      this.#db.transaction().execute(async (tx) => {
        const found = await findForUpdate(tx, stored, { id, day });
        if (found === undefined) throw new NotFoundError('Entity', id);
        precondition?.(found);
        const entity = patchEntity(stored, found, change(found), { now, ...options });
        return { before: found, after: await updateEntity(tx, stored, day, entity) };
      }),
    );
    await this.#options.orphans.changed(stored, before, after);
    this.#options.notices.updated(stored, before, after);
    return after;
  }

  async remove(id: string, { date, precondition }: RemoveOptions = {}): Promise<void> {
    const stored = this.#writable('DELETE');
    const which = { id, day: parseDate(stored, date) };
    const before =
      precondition === undefined
        ? await deleteEntity(this.#run, stored, which)
        : await this.#db.transaction().execute(async (tx) => {
            const found = await findForUpdate(tx, stored, which);
            if (found !== undefined) precondition(found);
            if (found !== undefined) await deleteForUpdate(tx, stored, which);
            return found;
          });
    if (before === undefined) throw new NotFoundError('Entity', id);
    await this.#options.orphans.changed(stored, before);
    this.#options.notices.removed(stored, before);
  }

  async clear(): Promise<void> {
    await this.#options.orphans.emptied(this.#class);
    await sql`truncate ${tableOf(this.#class)}`.execute(this.#db);
    this.#options.notices.cleared(this.#class);
  }

  async lookup(keys: Input): Promise<readonly string[]> {
    const stored = this.#class;
    const conditions = lookupKeys(stored, keys).map(({ property, value }) =>
      property === undefined
        ? sql`id = ${value}`
        : sql`${columnOf(stored, property.name)} = ${columnValue(property, value)}`,
    );
    const found = sql`
      select id from ${tableOf(stored)} where ${allOf(conditions)} order by id limit ${sql.number(stored.opts.max_limit)}`;
    const rows = await this.#run(found.statement());
    if (rows.length === 0) throw new NotFoundError('Entity', JSON.stringify(keys));
    return rows.map(([id]) => id ?? '');
  }

  async setup(input: Input): Promise<readonly string[] | { readonly result: 'ok' }> {
    const stored = this.#class;
    const command = parseCommand(input);
    const { notices, partitions } = this.#options;
    switch (command.cmd) {
      case 'suspend_notification':
        notices.suspend();
        break;
      case 'resume_notification':
        notices.resume(stored, command.sendReload);
        break;
      case 'optimize':
        await sql`vacuum (analyze) ${tableOf(stored)}`.execute(this.#db);
        break;
      case 'read_partitions':
        requirePartitions(stored, command.cmd);
        return await partitions.list(this.#db, stored);
      case 'drop_partition':
        requirePartitions(stored, command.cmd);
        await this.#options.orphans.emptied(stored);
        await partitions.drop(this.#db, stored, command.partition);
        break;
      default:
        command satisfies never;
    }
    return { result: 'ok' };
  }

  get #class(): StoredClass {
    return this.#options.current();
  }

  readonly #run: RunStatement = (statement) => this.#options.storage.run(statement);

  get #db(): Db {
    return this.#options.storage.db;
  }

  #writable(method: string): StoredClass {
    const stored = this.#class;
    if (stored.storage_mode !== 'transactionlog') return stored;
    throw new CannotApplyError('storage_mode', `transactionlog is append only: ${method} does not apply`, method);
  }

  /** Writes after creating the partitions of `times`; repeated if another node has dropped one meanwhile. */
  async #placed<T>(stored: StoredClass, times: readonly unknown[], write: () => Promise<T>): Promise<T> {
    const given = times.filter((time) => time !== undefined);
    const { partitions } = this.#options;
    for (const time of given) await partitions.ensure(this.#db, stored, time);
    try {
      return await write();
    } catch (error) {
      const isMissing = given.length > 0 && error instanceof SqlError && error.code === CHECK_VIOLATION;
      if (!isMissing) throw error;
      partitions.forget();
      for (const time of given) await partitions.ensure(this.#db, stored, time);
      return await write();
    }
  }
}

/** @throws InvalidFieldError when the time in a PUT is outside the day of its path */
function checkDay(stored: StoredClass, day: Interval, time: unknown): void {
  if (typeof time !== 'number' || (time >= day.from && time < day.to)) return;
  throw new InvalidFieldError(timeProperty(stored), 'must be within the day of the path; PATCH moves an entity', time);
}

/** "no partition of relation found for row" has the same code. */
const CHECK_VIOLATION = '23514';
function requirePartitions({ storage_mode: mode }: StoredClass, cmd: string): void {
  if (isPartitioned(mode)) return;
  throw new CannotApplyError('cmd', `is for history and transactionlog, not ${mode}`, cmd);
}

function sameId(id: string, input: Input): string {
  if (input['id'] !== undefined && input['id'] !== id)
    throw new InvalidFieldError('id', 'cannot be changed', input['id']);
  return checkId(id);
}
