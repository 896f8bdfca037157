/** The entities of one class in memory: ram, runtime and ets. */
import { hashesOf } from '../attachments/info.ts';
import type { Orphans } from '../attachments/orphans.ts';
import type { ResolvedClass } from '../class-definition.ts';
import { parseCommand } from '../commands.ts';
import { checkId, makeEntity, patchEntity } from '../entity.ts';
import { CannotApplyError, ConflictError, NotFoundError } from '../errors.ts';
import { type Expression, groupItems, sortItems, toPredicate } from '../filter/index.ts';
import { lookupKeys } from '../lookup.ts';
import type { Entity, Input, ListAnswer, ListQuery, ModelCollection, ReadOptions, UpdateOptions } from '../model.ts';
import type { Notices } from '../notices.ts';
import { type ParsedQuery, parseQuery, shaper } from '../query.ts';
import { compareText } from '../filter/values.ts';
import { Lifetimes } from './lifetimes.ts';
import { type IndexedProperty, MemoryStore } from './memory-store.ts';
import { Snapshots } from './snapshots.ts';

export interface MemoryCollectionOptions {
  readonly orphans: Orphans;
  readonly notices: Notices;
  readonly now: () => number;
  /** The class as it is now. */
  readonly current: () => ResolvedClass;
}

/** Below this many entities a snapshot costs more than it saves (specification, "Limits"). */
const SNAPSHOT_FROM = 3000;
/** The value of `snapshot` that asks for the whole set at once. */
const WHOLE = '*';

export class MemoryCollection implements ModelCollection {
  readonly #options: MemoryCollectionOptions;
  readonly #store: MemoryStore;
  readonly #lifetimes: Lifetimes;
  readonly #snapshots: Snapshots;

  constructor(options: MemoryCollectionOptions) {
    this.#options = options;
    this.#store = new MemoryStore(indexed(options.current()));
    this.#lifetimes = new Lifetimes(options.now, () => this.#sweep());
    this.#snapshots = new Snapshots(options.now);
  }

  get definition(): ResolvedClass {
    return this.#options.current();
  }

  async create(input: Input): Promise<Entity> {
    this.#sweep();
    const entity = makeEntity(this.definition, input, undefined, { now: this.#options.now() });
    if (this.#store.get(entity.id) !== undefined) throw new ConflictError('id');
    this.#put(entity, true);
    this.#options.notices.created(this.definition, entity);
    return entity;
  }

  async list(query: ListQuery): Promise<ListAnswer> {
    this.#sweep();
    const parsed = parseQuery(this.definition, query, this.#options.now());
    if (parsed.grouping !== undefined) {
      const rows = groupItems(parsed.grouping, this.#select(parsed.filter));
      if (parsed.countOnly) return { count: rows.length };
      return page(sortRows(rows, parsed), parsed).map(parsed.shape);
    }
    if (parsed.countOnly) return { count: [...this.#select(parsed.filter)].length };
    const { snapshot } = query;
    if (snapshot === WHOLE) return [...this.#whole(parsed, query)];
    const items =
      snapshot === undefined || this.#store.size < SNAPSHOT_FROM
        ? this.#sorted(parsed)
        : this.#snapshots.items(
            {
              session: query.session ?? '',
              id: snapshot,
              query: JSON.stringify([query.filter ?? null, query.order ?? null]),
              offset: parsed.offset,
            },
            () => this.#sorted(parsed),
          );
    return page(items, parsed).map(parsed.shape);
  }

  async whole(query: ListQuery): Promise<Iterable<Readonly<Record<string, unknown>>> | undefined> {
    this.#sweep();
    const parsed = parseQuery(this.definition, query, this.#options.now());
    return parsed.grouping === undefined && !parsed.countOnly ? this.#whole(parsed, query) : undefined;
  }

  /** Without an order there is nothing to sort, and the first is there at once. */
  *#whole(parsed: ParsedQuery, { limit = Infinity, order }: ListQuery): Iterable<Readonly<Record<string, unknown>>> {
    // A copy: what is written while it is read is not part of it.
    const items = order === undefined ? [...this.#select(parsed.filter)] : this.#sorted(parsed);
    for (const item of items.slice(parsed.offset, parsed.offset + limit)) yield parsed.shape(item);
  }

  async read(id: string, options: ReadOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return shaper(options)(this.#get(id));
  }

  async replace(id: string, input: Input): Promise<Entity> {
    this.#sweep();
    const before = this.#store.get(id);
    if (input['id'] !== undefined && input['id'] !== id) {
      throw new CannotApplyError('id', 'cannot be changed', input['id']);
    }
    const given = { ...input, id: checkId(id) };
    const after = makeEntity(this.definition, given, before, { now: this.#options.now() });
    this.#put(after, before === undefined);
    await this.#options.orphans.changed(this.definition, before, after);
    if (before === undefined) this.#options.notices.created(this.definition, after);
    else this.#options.notices.updated(this.definition, before, after);
    return after;
  }

  async update(id: string, input: Input, options: UpdateOptions = {}): Promise<Entity> {
    return await this.edit(id, () => input, options);
  }

  async edit(id: string, change: (before: Entity) => Input, options: UpdateOptions = {}): Promise<Entity> {
    const before = this.#get(id);
    const after = patchEntity(this.definition, before, change(before), { ...options, now: this.#options.now() });
    this.#put(after, false);
    await this.#options.orphans.changed(this.definition, before, after);
    this.#options.notices.updated(this.definition, before, after);
    return after;
  }

  async remove(id: string): Promise<void> {
    const before = this.#get(id);
    this.#store.remove(id);
    this.#lifetimes.delete(id);
    await this.#options.orphans.changed(this.definition, before);
    this.#options.notices.removed(this.definition, before);
  }

  async clear(): Promise<void> {
    this.dispose();
    this.#options.notices.cleared(this.definition);
  }

  async lookup(keys: Input): Promise<readonly string[]> {
    this.#sweep();
    const wanted = lookupKeys(this.definition, keys);
    const [first] = wanted;
    const byKey = first?.property === undefined ? undefined : this.#store.find(first.property.name, first.value);
    const candidates = byKey ?? [first?.property === undefined ? String(first?.value) : ''];
    const ids = [...candidates].filter((id) => {
      const entity = this.#store.get(id);
      return wanted.every(({ property, value }) => entity?.[property?.name ?? 'id'] === value);
    });
    if (ids.length === 0) throw new NotFoundError('Entity', JSON.stringify(keys));
    return ids.toSorted(compareText);
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

  /** Whether an entity has a file of this hash. */
  hasFile(hasha: string): boolean {
    for (const entity of this.#store.values()) if (hashesOf(this.definition, entity).includes(hasha)) return true;
    return false;
  }

  /** @throws CannotApplyError, ConflictError when the entities do not fit the class as it will be */
  checkAdoption(next: ResolvedClass): void {
    const trial = new MemoryStore(indexed(next));
    for (const entity of this.#converted(next)) trial.put(entity);
  }

  /** Takes the entities into the class as it is now. */
  adopt(next: ResolvedClass): void {
    this.#store.rebuild(indexed(next), this.#converted(next));
    this.#snapshots.clear();
  }

  /** Lets go of all entities and timers. */
  dispose(): void {
    this.#store.clear();
    this.#lifetimes.clear();
    this.#snapshots.clear();
  }

  #converted(next: ResolvedClass): readonly Entity[] {
    const names = new Set(['id', ...next.allProperties.map(({ name }) => name)]);
    const options = { now: this.#options.now(), attachments: true };
    return Array.from(this.#store.values(), (entity) => {
      const kept = Object.entries(entity).filter(([name, value]) => names.has(name) && value !== null);
      return freeze(makeEntity(next, Object.fromEntries(kept), undefined, options));
    });
  }

  #get(id: string): Entity {
    this.#sweep();
    const entity = this.#store.get(id);
    if (entity === undefined) throw new NotFoundError('Entity', id);
    return entity;
  }

  #put(entity: Entity, isNew: boolean): void {
    this.#store.put(freeze(entity));
    const { expires_mode: mode, expires_ttl: ttl } = this.definition.opts;
    if (mode === 'modify' || (mode === 'create' && isNew)) {
      this.#lifetimes.set(entity.id, this.#options.now() + ttl * 1000);
    }
  }

  /** Removes what has come to its end. */
  #sweep(): void {
    for (const id of this.#lifetimes.takeEnded()) {
      const entity = this.#store.get(id);
      this.#store.remove(id);
      if (entity !== undefined) this.#options.notices.removed(this.definition, entity);
    }
  }

  #sorted({ filter, order }: ParsedQuery): readonly Entity[] {
    return sortItems([...this.#select(filter)], order);
  }

  *#select(filter: Expression | undefined): Iterable<Entity> {
    if (filter === undefined) {
      yield* this.#store.values();
      return;
    }
    const matches = toPredicate(filter);
    for (const entity of this.#candidates(filter)) if (matches(entity)) yield entity;
  }

  /** By index where the filter asks for a value of an indexed property, else all. */
  #candidates(filter: Expression): Iterable<Entity> {
    for (const { property, value } of equalities(filter)) {
      const ids = property === 'id' ? [String(value)] : this.#store.find(property, value);
      if (ids !== undefined)
        return Array.from(ids, (id) => this.#store.get(id)).filter((entity) => entity !== undefined);
    }
    return this.#store.values();
  }
}

/** The equalities with a literal that must hold for the filter to hold. */
function* equalities(filter: Expression): Iterable<{ readonly property: string; readonly value: unknown }> {
  if (filter.kind !== 'call') return;
  if (filter.name === 'and') for (const arg of filter.args) yield* equalities(arg);
  if (filter.name !== 'equal') return;
  const [a, b] = filter.args;
  const property = [a, b].find((arg) => arg?.kind === 'property');
  const literal = [a, b].find((arg) => arg?.kind === 'const');
  if (property?.kind !== 'property' || literal?.kind !== 'const') return;
  if (property.keys.length === 0 && literal.value !== null) yield { property: property.name, value: literal.value };
}

function indexed({ allProperties, opts }: ResolvedClass): readonly IndexedProperty[] {
  return allProperties
    .filter(
      ({ name, index, unique }) =>
        unique || opts.lookup_properties.includes(name) || (index !== false && index !== 'list'),
    )
    .map(({ name, unique }) => ({ name, unique }));
}

function page<T>(items: readonly T[], { offset, limit }: ParsedQuery): readonly T[] {
  return items.slice(offset, offset + limit);
}

/** Rows of groups: as asked, then by the groups, as PostgreSQL does. */
function sortRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  { order, grouping }: ParsedQuery,
): readonly Readonly<Record<string, unknown>>[] {
  const groups = (grouping?.groups ?? []).map(({ name, expression }) => ({
    expression: { kind: 'property' as const, type: expression.type, name, keys: [] },
    descending: false,
  }));
  return sortItems(rows, [...order, ...groups]);
}

function freeze(entity: Entity): Entity {
  for (const value of Object.values(entity)) freezeDeep(value);
  return Object.freeze(entity);
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freezeDeep(item);
}
