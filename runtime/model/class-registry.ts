/** All classes of the node. Creates, changes and removes them together with their tables. */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { type Schema, sql, type Storage } from '../storage/index.ts';
import { isFields } from './check.ts';
import type { ClassDefinition, PropertyDefinition } from './class-definition.ts';
import { type ClassRow, deleteClass, insertClass, loadClasses, updateClass } from './class-rows.ts';
import { hasTable, isInMemory, isPartitioned, readClass } from './class-settings.ts';
import { CannotApplyError, ConflictError, InvalidFieldError, NotFoundError } from './errors.ts';
import { alterSequences } from './memory/numbers.ts';
import { forgetClass } from './memory/shared-entities.ts';
import type { Input } from './fields.ts';
import { resolveProperties, timeProperty } from './resolve-class.ts';
import type { StoredClass } from './stored-class.ts';
import { alterTable, createTable, dropTable } from './table/definition.ts';
import { Partitions } from './table/partitions.ts';

type Db = Kysely<Schema>;
type Entry = ClassRow & StoredClass;

/** Followers of class changes: collections in memory, and the other nodes. */
export interface ClassFollower {
  /** Converts shared entities, in the transaction. Throws a ModelError when an entity does not fit. */
  check(next: StoredClass, tx: Db): Promise<void>;
  changed(next: StoredClass): void;
  /** Called after `check` when the change is rolled back. */
  unchanged(id: string): void;
  removed(stored: StoredClass): void;
  /** Called last in the transaction of each change. */
  committing(tx: Db): Promise<void>;
}

/** Advisory lock around class changes: nodes change classes one after another. */
const CLASSES_LOCK = 727_464_002;

export class ClassRegistry {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #classes = new Map<string, Entry>();
  /** Ids by domain and class name. */
  readonly #names = new Map<string, string>();
  readonly #follower: ClassFollower;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage, now: () => number, follower: ClassFollower) {
    this.#storage = storage;
    this.#now = now;
    this.#follower = follower;
  }

  /** Loads the classes from the database and reports differences to the follower. */
  async load(): Promise<void> {
    await this.#inTurn(() => this.#load(this.#storage.db));
  }

  async #load(db: Db): Promise<void> {
    const rows = await loadClasses(db);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [id, entry] of this.#classes) if (!byId.has(id)) this.#forget(entry);
    for (const row of rows) {
      const known = this.#classes.get(row.id);
      if (known?.version === row.version) continue;
      const entry = { ...row, allProperties: resolveProperties(row, (id) => byId.get(id)) };
      this.#replace(known, entry);
    }
  }

  get(id: string): StoredClass | undefined {
    return this.#classes.get(id);
  }

  named(domain: string, classname: string): StoredClass | undefined {
    return this.#classes.get(this.#names.get(nameKey(domain, classname)) ?? '');
  }

  /** The classes of one domain, or of all, by name. */
  list(domain?: string): readonly StoredClass[] {
    return [...this.#classes.values()]
      .filter((each) => domain === undefined || each.domain_id === domain)
      .toSorted((a, b) => (a.classname < b.classname ? -1 : 1));
  }

  /** @throws InvalidFieldError, ConflictError */
  async create(domain: string, input: Input): Promise<StoredClass> {
    return await this.#change(async (tx) => {
      const time = new Date(this.#now()).toISOString();
      const { id = randomUUID(), ext = {} } = input;
      const times = { ct: time, lwt: time };
      const definition = readClass({
        ...input,
        id,
        domain_id: domain,
        ext: isFields(ext) ? { ...ext, ...times } : ext,
      });
      if (this.#classes.has(definition.id)) throw new ConflictError('id');
      const allProperties = this.#resolve(definition);
      const row = { ...definition, ...numberColumns(allProperties, {}, 1), shape: 0, version: 1 };
      const entry: Entry = { ...row, allProperties, number: await insertClass(tx, row) };
      if (hasTable(entry)) await createTable(tx, entry);
      else await alterSequences(tx, undefined, entry);
      return { result: entry, commit: () => this.#replace(undefined, entry) };
    });
  }

  /** @throws NotFoundError, InvalidFieldError, CannotApplyError when the data do not fit, ConflictError */
  async update(
    domain: string,
    id: string,
    input: Input,
    precondition?: (before: StoredClass) => void,
  ): Promise<StoredClass> {
    const checked: string[] = [];
    const change = this.#change(async (tx) => {
      const before = this.#require(domain, id);
      precondition?.(before);
      const next = this.#changed(before, input);
      const changes = this.#affected(before, next);
      for (const { from, to } of changes) await this.#alter(tx, from, to);
      for (const { to } of changes) {
        checked.push(to.id);
        await this.#follower.check(to, tx);
      }
      const commit = (): void => {
        for (const { from, to } of changes) this.#replace(from, to);
      };
      return { result: changes[0]?.to ?? before, commit };
    });
    try {
      return await change;
    } catch (error) {
      for (const each of checked) this.#follower.unchanged(each);
      throw error;
    }
  }

  /** @throws NotFoundError, CannotApplyError */
  async remove(domain: string, id: string): Promise<void> {
    await this.#change(async (tx) => {
      const entry = this.#require(domain, id);
      const heir = [...this.#classes.values()].find((each) => each.parent_id === id);
      if (heir !== undefined)
        throw new CannotApplyError('id', `is the parent of ${heir.classname}; remove that first`, id);
      await dropTable(tx, entry);
      await forgetClass(tx, entry);
      await deleteClass(tx, id);
      return { result: undefined, commit: () => this.#forget(entry) };
    });
  }

  /**
   * Changes classes one after another, across all nodes, starting from the newest committed state.
   *
   * @param change returns what to do in memory after the commit
   */
  async #change<T>(change: (tx: Db) => Promise<{ readonly result: T; readonly commit: () => void }>): Promise<T> {
    return await this.#inTurn(async () => {
      const { result, commit } = await this.#storage.db.transaction().execute(async (tx) => {
        if (this.#storage.kind === 'postgres') {
          await sql`select pg_advisory_xact_lock(${CLASSES_LOCK})`.execute(tx);
          await this.#load(tx);
        }
        const changed = await change(tx);
        await this.#follower.committing(tx);
        return changed;
      });
      commit();
      return result;
    });
  }

  #replace(before: Entry | undefined, after: Entry): void {
    if (before !== undefined) this.#names.delete(nameKey(before.domain_id, before.classname));
    this.#set(after);
    this.#follower.changed(after);
  }

  #forget(entry: Entry): void {
    this.#classes.delete(entry.id);
    this.#names.delete(nameKey(entry.domain_id, entry.classname));
    this.#follower.removed(entry);
  }

  #require(domain: string, id: string): Entry {
    const entry = this.#classes.get(id);
    if (entry === undefined || entry.domain_id !== domain) throw new NotFoundError('Class', id);
    return entry;
  }

  #resolve(definition: ClassDefinition, replaced?: ClassDefinition): readonly PropertyDefinition[] {
    return resolveProperties(definition, (id) => (id === replaced?.id ? replaced : this.#classes.get(id)));
  }

  /** The settings after a change: fields replace; `opts` and `ext` are merged by first-level keys. */
  #changed(before: Entry, input: Input): ClassDefinition {
    for (const name of ['id', 'domain_id'] as const) {
      if (input[name] !== undefined && input[name] !== before[name]) {
        throw new InvalidFieldError(name, 'cannot be changed', input[name]);
      }
    }
    const { id, domain_id: domainId, classname, name, description, parent_id: parentId, properties } = before;
    const present = {
      classname,
      name,
      description,
      parent_id: parentId,
      storage_mode: before.storage_mode,
      properties,
    };
    const { ext = {} } = input;
    const times = { ct: before.ext['ct'], lwt: new Date(this.#now()).toISOString() };
    return readClass({
      ...present,
      ...input,
      id,
      domain_id: domainId,
      opts: merge(before.opts, input['opts']),
      ext: isFields(ext) ? { ...(merge(before.ext, ext) as Input), ...times } : ext,
    });
  }

  /** The class and all its descendants, before and after. */
  #affected(before: Entry, next: ClassDefinition): readonly { readonly from: Entry; readonly to: Entry }[] {
    const changes: { from: Entry; to: Entry }[] = [];
    const visit = (from: Entry, definition: ClassDefinition): void => {
      const allProperties = this.#resolve(definition, next);
      const numbered = numberColumns(allProperties, from.columns, from.next_column);
      const isReshaped = JSON.stringify(allProperties) !== JSON.stringify(from.allProperties);
      const shape = from.shape + (isReshaped ? 1 : 0);
      changes.push({
        from,
        to: { ...from, ...definition, allProperties, ...numbered, shape, version: from.version + 1 },
      });
      for (const heir of this.#classes.values()) if (heir.parent_id === from.id) visit(heir, heir);
    };
    visit(before, next);
    return changes;
  }

  async #alter(tx: Db, from: Entry, to: Entry): Promise<void> {
    checkModeChange(from, to);
    await updateClass(tx, to);
    if (!hasTable(to)) {
      await alterSequences(tx, from, to);
      return;
    }
    if (!hasTable(from)) {
      await createTable(tx, to);
      return;
    }
    if (isPartitioned(to.storage_mode)) await checkPartitioning(tx, from, to);
    await alterTable(tx, from, to);
  }

  #set(entry: Entry): void {
    this.#classes.set(entry.id, entry);
    this.#names.set(nameKey(entry.domain_id, entry.classname), entry.id);
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#lastChange.then(change);
    this.#lastChange = changed.catch(() => undefined);
    return await changed;
  }
}

function nameKey(domain: string, classname: string): string {
  return JSON.stringify([domain, classname]);
}

function merge(before: object, given: unknown): unknown {
  if (given === undefined) return before;
  if (!isFields(given)) return given;
  const entries = Object.entries({ ...before, ...given });
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== 'null'));
}

/** Numbers new properties consecutively; the number of a removed property is never used again. */
function numberColumns(
  properties: readonly PropertyDefinition[],
  known: Readonly<Record<string, number>>,
  from: number,
): { readonly columns: Readonly<Record<string, number>>; readonly next_column: number } {
  let next = from;
  const columns = properties.map(({ name }) => {
    const number = Object.hasOwn(known, name) ? known[name] : undefined;
    return [name, number ?? next++] as const;
  });
  return { columns: Object.fromEntries(columns), next_column: next };
}

function checkModeChange(from: ClassDefinition, to: ClassDefinition): void {
  const [old, mode] = [from.storage_mode, to.storage_mode];
  if (old === mode || old === 'abstract' || (isInMemory(old) && isInMemory(mode))) return;
  throw new CannotApplyError('storage_mode', `cannot be changed from ${old} to ${mode}; create another class`, mode);
}

async function checkPartitioning(db: Db, from: StoredClass, to: StoredClass): Promise<void> {
  if (timeProperty(from) !== timeProperty(to)) {
    throw new CannotApplyError('opts.partition_property', 'cannot be changed: the data are partitioned by it');
  }
  if (from.opts.partition_interval === to.opts.partition_interval) return;
  const names = await new Partitions().list(db, from);
  if (names.length === 0) return;
  throw new CannotApplyError(
    'opts.partition_interval',
    'cannot be changed while the class has partitions; drop them first',
    names,
  );
}
