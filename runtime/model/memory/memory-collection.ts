/** The entities of one class in memory: ram, runtime and ets. */
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { hashesOf } from '../attachments/info.ts';
import type { Orphans } from '../attachments/orphans.ts';
import type { ResolvedClass } from '../class-definition.ts';
import { parseCommand } from '../commands.ts';
import { checkId, makeEntity, patchEntity } from '../entity.ts';
import { CannotApplyError, ConflictError, InvalidFieldError, NotFoundError } from '../errors.ts';
import { Grouper } from '../filter/index.ts';
import { lookupKeys } from '../lookup.ts';
import type { StoredClass } from '../stored-class.ts';
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
import { parseQuery, shaper } from '../query.ts';
import { makeEntities } from '../several.ts';
import { checkUnique, convertedTo, fittingOnes, freeze, indexed } from './conversion.ts';
import { Lifetimes } from './lifetimes.ts';
import { countMatches, findAll, findByKeys, findPage, forEachMatch, page, sortRows } from './memory-query.ts';
import { MemoryStore } from './memory-store.ts';
import { refuseNewIncrement, withNumbers } from './numbers.ts';
import type { Decide, SharedEntities, SharedEntity } from './shared-entities.ts';
import { Snapshots } from './snapshots.ts';
import { whole } from './whole.ts';

export interface MemoryCollectionOptions {
  readonly orphans: Orphans;
  readonly notices: Notices;
  readonly now: () => number;
  /** The current class. */
  readonly current: () => StoredClass;
  /** Entities shared by all nodes; undefined: the entities belong to this node alone. */
  readonly shared: () => SharedEntities | undefined;
  /** Called when entities may have ended. */
  readonly onEnded?: (() => void) | undefined;
}

/** Below this many entities a snapshot costs more than it saves (specification, "Limits"). */
const SNAPSHOT_FROM = 3000;
/** Value of `snapshot` that requests the whole set at once. */
const WHOLE = '*';

export class MemoryCollection implements ModelCollection {
  readonly #options: MemoryCollectionOptions;
  readonly #store: MemoryStore;
  readonly #lifetimes: Lifetimes;
  readonly #snapshots: Snapshots;
  /** Versions of shared entities, including removed ones. */
  readonly #versions = new Map<string, number>();
  /** Last increment; only for entities of this node alone. */
  #lastNumber = 0;
  /** Settles when a pending class change, already checked against all entities, is made or dropped. */
  #changing: PromiseWithResolvers<void> | undefined;

  constructor(options: MemoryCollectionOptions) {
    this.#options = options;
    this.#store = new MemoryStore(indexed(options.current()));
    this.#lifetimes = new Lifetimes(options.now, () => this.#sweep());
    this.#snapshots = new Snapshots(options.now);
  }

  get definition(): ResolvedClass {
    return this.#options.current();
  }

  async create(input: Input, { files }: CreateOptions = {}): Promise<Entity> {
    const given = withId(input);
    return await this.#write(given.id, (before) => {
      const entity = makeEntity(this.definition, given, undefined, { now: this.#options.now(), files });
      if (before !== undefined) throw new ConflictError('id');
      return entity;
    });
  }

  /** @throws CannotApplyError: only tables are partitioned by time */
  async append(): Promise<void> {
    throw new CannotApplyError('storage_mode', 'is not history or transactionlog');
  }

  async createAll(inputs: readonly Input[]): Promise<readonly Entity[]> {
    this.#sweep();
    const shared = this.#options.shared();
    if (shared !== undefined) return await shared.createAll(() => this.#makeAll(inputs), this.#endOf);
    for (;;) {
      const { definition } = this;
      const made = await this.#makeAll(inputs);
      await this.#settled();
      // The class changed meanwhile: make the entities again.
      if (definition !== this.definition) continue;
      const entities = this.#numbered(made).map(freeze);
      this.#placeAll(entities);
      return entities;
    }
  }

  /** @throws InvalidFieldError, ConflictError for a repeated id */
  async #makeAll(inputs: readonly Input[]): Promise<readonly Entity[]> {
    const entities = await makeEntities(this.definition, inputs, this.#options.now());
    const ids = new Set<string>();
    for (const [index, { id }] of entities.entries()) {
      if (ids.has(id)) throw new ConflictError(`${index}.id`);
      ids.add(id);
    }
    return entities.map(freeze);
  }

  /** Assigns increments to new entities of this node alone. */
  #numbered(entities: readonly Entity[]): readonly Entity[] {
    return withNumbers(
      this.definition,
      entities,
      entities.map(() => (this.#lastNumber += 1)),
    );
  }

  /** Stores all or none, synchronously. @throws ConflictError */
  #placeAll(entities: readonly Entity[]): void {
    this.#store.addAll(entities);
    const end = this.#endOf(true);
    for (const entity of entities) {
      if (end !== undefined) this.#lifetimes.set(entity.id, end);
      this.#options.notices.created(this.definition, entity);
    }
  }

  async list(query: ListQuery): Promise<ListAnswer> {
    this.#sweep();
    const parsed = parseQuery(this.definition, query, this.#options.now());
    if (parsed.grouping !== undefined) {
      const grouper = new Grouper(parsed.grouping);
      await forEachMatch(this.#store, parsed.filter, (entity) => grouper.add(entity));
      const rows = grouper.rows();
      if (parsed.countOnly) return { count: rows.length };
      return page(sortRows(rows, parsed), parsed).map(parsed.shape);
    }
    if (parsed.countOnly) return { count: await countMatches(this.#store, parsed.filter) };
    const { snapshot } = query;
    if (snapshot === WHOLE) {
      const items: Readonly<Record<string, unknown>>[] = [];
      for await (const batch of whole(this.#store, parsed, query)) items.push(...batch);
      return items;
    }
    if (snapshot === undefined || this.#store.size < SNAPSHOT_FROM) {
      return (await findPage(this.#store, parsed)).map(parsed.shape);
    }
    const request = {
      session: query.session ?? '',
      id: snapshot,
      query: JSON.stringify([query.filter ?? null, query.order ?? null]),
      offset: parsed.offset,
    };
    const items = await this.#snapshots.items(request, () => findAll(this.#store, parsed));
    return page(items, parsed).map(parsed.shape);
  }

  async listJson(query: ListQuery): Promise<string> {
    return JSON.stringify(await this.list(query));
  }

  async whole(query: ListQuery): ReturnType<ModelCollection['whole']> {
    this.#sweep();
    const parsed = parseQuery(this.definition, query, this.#options.now());
    return parsed.grouping === undefined && !parsed.countOnly ? whole(this.#store, parsed, query) : undefined;
  }

  async read(id: string, options: ReadOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return shaper(options)(this.#get(id));
  }

  async readJson(id: string, options?: ReadOptions): Promise<string> {
    return JSON.stringify(await this.read(id, options));
  }

  async replace(id: string, input: Input, { files, precondition }: ReplaceOptions = {}): Promise<Entity> {
    if (input['id'] !== undefined && input['id'] !== id) {
      throw new InvalidFieldError('id', 'cannot be changed', input['id']);
    }
    const given = { ...input, id: checkId(id) };
    const options = { now: this.#options.now(), files };
    return await this.#write(id, (before) => {
      precondition?.(before);
      return makeEntity(this.definition, given, before, options);
    });
  }

  async update(id: string, input: Input, options: UpdateOptions = {}): Promise<Entity> {
    return await this.edit(id, () => input, options);
  }

  async edit(id: string, change: (before: Entity) => Input, options: UpdateOptions = {}): Promise<Entity> {
    const now = this.#options.now();
    return await this.#write(id, (before) => {
      if (before === undefined) throw new NotFoundError('Entity', id);
      options.precondition?.(before);
      return patchEntity(this.definition, before, change(before), { ...options, now });
    });
  }

  async remove(id: string, { precondition }: RemoveOptions = {}): Promise<void> {
    await this.#write(id, (before) => {
      if (before === undefined) throw new NotFoundError('Entity', id);
      precondition?.(before);
      return undefined;
    });
  }

  async clear(): Promise<void> {
    const { notices } = this.#options;
    const shared = this.#options.shared();
    if (shared !== undefined) {
      await shared.clear();
      return;
    }
    this.#empty();
    notices.cleared(this.definition);
  }

  async lookup(keys: Input): Promise<readonly string[]> {
    this.#sweep();
    const found = await findByKeys(this.#store, lookupKeys(this.definition, keys), this.definition.opts.max_limit);
    if (found.length === 0) throw new NotFoundError('Entity', JSON.stringify(keys));
    return found.map(({ id }) => id);
  }

  async setup(input: Input): Promise<{ readonly result: 'ok' }> {
    const command = parseCommand(input);
    const { notices } = this.#options;
    if (command.cmd === 'suspend_notification') notices.suspend();
    else if (command.cmd === 'resume_notification') notices.resume(this.definition, command.sendReload);
    else if (command.cmd !== 'optimize') {
      const mode = this.definition.storage_mode;
      throw new CannotApplyError('cmd', `is for history and transactionlog, not ${mode}`, command.cmd);
    }
    return { result: 'ok' };
  }

  /** True when an entity has a file with this hash. */
  hasFile(hasha: string): boolean {
    for (const entity of this.#store.values()) if (hashesOf(this.definition, entity).includes(hasha)) return true;
    return false;
  }

  /**
   * Applies a committed write of any node.
   *
   * @param shape version of the class that wrote it; undefined: the current one
   * @returns the entity before and after; false when a newer version is already here
   */
  apply(
    { id, entity, version, expires }: SharedEntity,
    shape?: number,
  ): { readonly before: Entity | undefined; readonly after: Entity | undefined } | false {
    if (version <= (this.#versions.get(id) ?? 0)) return false;
    this.#versions.set(id, version);
    const before = this.#store.get(id);
    if (entity === undefined) {
      this.#drop(id);
      return { before, after: undefined };
    }
    const after = freeze(shape === undefined ? entity : this.#fitted(entity, shape));
    // Uniqueness was checked when the write was committed; a class change may arrive between the notices.
    this.#store.put(after, { unchecked: true });
    if (expires === undefined) this.#lifetimes.delete(id);
    else this.#lifetimes.set(id, expires);
    return { before, after };
  }

  /** Converts an entity of an older class definition. One that does not fit was rewritten before the change. */
  #fitted(entity: Entity, shape: number): Entity {
    const { definition } = this;
    if (shape === this.#options.current().shape) return entity;
    return fittingOnes(definition, [entity], this.#options.now())[0] ?? entity;
  }

  /** Removes entities older than `version`. */
  applyClear(version: number): void {
    for (const { id } of this.#store.values()) {
      if ((this.#versions.get(id) ?? 0) < version) this.#drop(id);
    }
    this.#snapshots.clear();
  }

  /** Reloads all shared entities. */
  async reload(): Promise<void> {
    const shared = this.#options.shared();
    if (shared === undefined) return;
    const { entities, version } = await shared.load();
    const known = new Set(entities.map(({ id }) => id));
    for (const entity of entities) this.apply(entity);
    for (const { id } of this.#store.values()) {
      if (!known.has(id) && (this.#versions.get(id) ?? 0) < version) this.#drop(id);
    }
  }

  /** @throws CannotApplyError when entities do not fit the next class */
  async checkAdoption(next: StoredClass, tx: Kysely<Schema>): Promise<void> {
    const convert = (entities: readonly Entity[]): readonly Entity[] => {
      refuseNewIncrement(this.definition, next, entities);
      const converted = convertedTo(next, entities, this.#options.now());
      checkUnique(next, converted);
      return converted;
    };
    const shared = this.#options.shared();
    if (shared !== undefined) {
      await shared.convert(tx, next, convert);
      return;
    }
    this.#changing ??= Promise.withResolvers();
    convert([...this.#store.values()]);
  }

  /** Converts the entities to the current class. */
  adopt(next: ResolvedClass): void {
    // Some shared entities may be older than the checked ones; those that do not fit are about to be rewritten.
    const fitting = fittingOnes(next, this.#store.values(), this.#options.now());
    const kept = new Set(fitting.map(({ id }) => id));
    for (const { id } of this.#store.values()) if (!kept.has(id)) this.#drop(id);
    this.#store.rebuild(indexed(next), fitting);
    this.#snapshots.clear();
    this.keepAsIs();
  }

  /** The class change was made or dropped: resumes writes. */
  keepAsIs(): void {
    this.#changing?.resolve();
    this.#changing = undefined;
  }

  /** Drops all entities and timers. */
  dispose(): void {
    this.#empty();
    this.keepAsIs();
  }

  /** Resolves when no class change is pending. */
  async #settled(): Promise<void> {
    while (this.#changing !== undefined) await this.#changing.promise;
  }

  #empty(): void {
    this.#store.clear();
    this.#lifetimes.clear();
    this.#snapshots.clear();
  }

  #get(id: string): Entity {
    this.#sweep();
    const entity = this.#store.get(id);
    if (entity === undefined) throw new NotFoundError('Entity', id);
    return entity;
  }

  /** Writes one entity: commits it, stores it and notifies subscribers. */
  async #write<After extends Entity | undefined>(
    id: string,
    decide: (before: Entity | undefined) => After,
  ): Promise<After> {
    this.#sweep();
    const { orphans, notices } = this.#options;
    const shared = this.#options.shared();
    if (shared !== undefined) {
      // The entity is stored, and subscribers are notified, when its notice arrives in the order of all nodes' writes.
      const { before, entity } = await shared.write(id, decide, this.#endOf);
      await orphans.changed(this.definition, before, entity);
      return entity as After;
    }
    await this.#settled();
    const { before, entity } = this.#writeHere(id, decide);
    await orphans.changed(this.definition, before, entity);
    if (entity === undefined) {
      if (before !== undefined) notices.removed(this.definition, before);
    } else if (before === undefined) notices.created(this.definition, entity);
    else notices.updated(this.definition, before, entity);
    return entity as After;
  }

  #writeHere(id: string, decide: Decide): { readonly before: Entity | undefined; readonly entity: Entity | undefined } {
    const before = this.#store.get(id);
    const decided = decide(before);
    const entity = before === undefined && decided !== undefined ? this.#numbered([decided])[0] : decided;
    if (entity === undefined) this.#drop(id);
    else {
      this.#store.put(freeze(entity));
      const end = this.#endOf(before === undefined);
      if (end !== undefined) this.#lifetimes.set(id, end);
    }
    return { before, entity };
  }

  #drop(id: string): void {
    this.#store.remove(id);
    this.#lifetimes.delete(id);
  }

  /** End of an entity written now; undefined: unchanged. */
  readonly #endOf = (isNew: boolean): number | undefined => {
    const { expires_mode: mode, expires_ttl: ttl } = this.definition.opts;
    return mode === 'modify' || (mode === 'create' && isNew) ? this.#options.now() + ttl * 1000 : undefined;
  };

  /** Removes ended entities. */
  #sweep(): void {
    const ended = this.#lifetimes.takeEnded();
    for (const id of ended) {
      const entity = this.#store.get(id);
      this.#store.remove(id);
      if (entity !== undefined) this.#options.notices.removed(this.definition, entity, { everywhere: false });
    }
    if (ended.length > 0) this.#options.onEnded?.();
  }
}

function withId(input: Input): Input & { readonly id: string } {
  return { ...input, id: checkId(input['id'] ?? randomUUID()) };
}
