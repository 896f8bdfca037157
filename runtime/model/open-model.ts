/** Opens the data model and connects its parts: classes, collections, attachments, other nodes. */
import type { Kysely } from 'kysely';
import type { Schema, Storage } from '../storage/index.ts';
import { Attachments } from './attachments/attachments.ts';
import { Orphans } from './attachments/orphans.ts';
import type { ClassDefinition } from './class-definition.ts';
import { type ClassFollower, ClassRegistry } from './class-registry.ts';
import { hasTable, isInMemory, isPartitioned, MAX_CLASSNAME_PARTS } from './class-settings.ts';
import { withCurrentClass } from './current-class.ts';
import { NotFoundError } from './errors.ts';
import { FreshCollection } from './fresh-collection.ts';
import { Cluster, type ClusterFollower, type PeerChange } from './cluster.ts';
import { MemoryCollection } from './memory/memory-collection.ts';
import { OwnWrites } from './memory/own-writes.ts';
import { forgetShared, SharedEntities, type SharedEntity, type SharedMessage } from './memory/shared-entities.ts';
import type { Model, ModelClasses, ModelCollection, ModelListener, ModelSettings } from './model.ts';
import type { Input } from './fields.ts';
import { Notices, type Peers } from './notices.ts';
import type { StoredClass } from './stored-class.ts';
import { Partitions } from './table/partitions.ts';
import { TableCollection } from './table/table-collection.ts';

const RETENTION_INTERVAL_MS = 3_600_000;
const SWEEP_INTERVAL_MS = 600_000;
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Loads the classes. Memory classes start empty: their entities end with the node. */
export async function openModel(storage: Storage, settings: ModelSettings): Promise<Model> {
  const model = new LiveModel(storage, settings);
  await model.open();
  return model;
}

class LiveModel implements Model, ClassFollower, ClusterFollower {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #registry: ClassRegistry;
  readonly #listeners = new Set<ModelListener>();
  /** By id of the class. */
  readonly #collections = new Map<string, TableCollection | MemoryCollection>();
  readonly #own = new OwnWrites();
  readonly #partitions = new Map<string, Partitions>();
  readonly #cluster: Cluster | undefined;
  readonly #notices = new Map<string, Notices>();
  readonly #orphans: Orphans;
  readonly attachments: Attachments;
  readonly #timers: NodeJS.Timeout[] = [];
  #retention: Promise<void> = Promise.resolve();

  constructor(
    storage: Storage,
    { now = Date.now, files, usesFile = async () => false, maxFileBytes = MAX_FILE_BYTES }: ModelSettings,
  ) {
    this.#storage = storage;
    this.#now = now;
    this.#registry = new ClassRegistry(storage, now, this);
    this.#cluster = storage.kind === 'postgres' ? new Cluster(storage, this, this.#own) : undefined;
    this.#orphans = new Orphans({
      storage,
      files,
      now,
      classes: () => this.#registry.list(),
      isInMemory: ({ storage_mode: mode }) => isInMemory(mode),
      usesFile,
      inMemory: ({ id }, hasha) => {
        const collection = this.#collections.get(id);
        return collection instanceof MemoryCollection && collection.hasFile(hasha);
      },
    });
    this.attachments = new Attachments({ files, orphans: this.#orphans, limit: maxFileBytes, now });
  }

  async open(): Promise<void> {
    if (this.#cluster !== undefined && this.#storage.notices.wasAlone) await forgetShared(this.#storage.db);
    await this.#registry.load();
    await this.#reloadShared();
    await this.#expirePartitions();
    this.#every(RETENTION_INTERVAL_MS, () => this.#expirePartitions());
    this.#every(SWEEP_INTERVAL_MS, () => this.sweepFiles().then(() => undefined));
  }

  async sweepFiles(graceMs?: number): Promise<number> {
    try {
      const removed = await this.#orphans.sweep(graceMs);
      if (removed > 0) this.#storage.log.info({ removed }, 'unused attachment files removed');
      return removed;
    } catch (error) {
      // They stay suspect for the next round.
      this.#storage.log.error({ err: error }, 'unused attachment files were not removed');
      return 0;
    }
  }

  #every(intervalMs: number, act: () => Promise<void>): void {
    const timer = setInterval(() => {
      this.#retention = this.#retention.then(act);
    }, intervalMs);
    this.#timers.push(timer.unref());
  }

  classes(domain: string): ModelClasses {
    const registry = this.#registry;
    const own = (id: string): StoredClass | undefined => {
      const stored = registry.get(id);
      return stored?.domain_id === domain ? stored : undefined;
    };
    return {
      list: () => registry.list(domain).map(settingsOf),
      get: (id) => {
        const stored = own(id);
        return stored === undefined ? undefined : settingsOf(stored);
      },
      create: async (input: Input) => settingsOf(await registry.create(domain, input)),
      update: async (id, input, precondition) =>
        settingsOf(await registry.update(domain, id, input, (before) => precondition?.(settingsOf(before)))),
      remove: async (id) => {
        await withCurrentClass(async () => {
          const stored = own(id);
          if (stored !== undefined && hasTable(stored)) await this.#orphans.emptied(stored);
        }, this.#refresh);
        await registry.remove(domain, id);
      },
    };
  }

  collection(domain: string, classname: string): ModelCollection {
    const stored = this.#registry.named(domain, classname);
    if (stored === undefined || stored.storage_mode === 'abstract') throw new NotFoundError('Class', classname);
    return this.#fresh(stored);
  }

  find(
    domain: string,
    segments: readonly string[],
  ): { readonly collection: ModelCollection; readonly rest: readonly string[] } | undefined {
    for (let length = Math.min(segments.length, MAX_CLASSNAME_PARTS); length > 0; length -= 1) {
      const stored = this.#registry.named(domain, segments.slice(0, length).join('/'));
      if (stored === undefined || stored.storage_mode === 'abstract') continue;
      return { collection: this.#fresh(stored), rest: segments.slice(length) };
    }
    return undefined;
  }

  children(domain: string, path: string): readonly string[] {
    const prefix = path === '' ? '' : `${path}/`;
    const names = this.#registry
      .list(domain)
      .filter(({ classname }) => classname.startsWith(prefix))
      .map(({ classname }) => classname.slice(prefix.length).split('/')[0] ?? '');
    return [...new Set(names)].toSorted();
  }

  onChange(listener: ModelListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#retention;
    await this.#cluster?.close();
    for (const collection of this.#collections.values()) {
      if (collection instanceof MemoryCollection) collection.dispose();
    }
  }

  async check(next: StoredClass, tx: Kysely<Schema>): Promise<void> {
    const before = this.#registry.get(next.id);
    const collection = before !== undefined && isInMemory(before.storage_mode) ? this.#collectionOf(before) : undefined;
    if (collection instanceof MemoryCollection) await collection.checkAdoption(next, tx);
  }

  unchanged(id: string): void {
    const collection = this.#collections.get(id);
    if (collection instanceof MemoryCollection) collection.keepAsIs();
  }

  changed(next: StoredClass): void {
    const collection = this.#collections.get(next.id);
    // The place of the data changes only for an abstract class and between modes in memory.
    if (collection instanceof MemoryCollection) collection.adopt(next);
  }

  async committing(tx: Kysely<Schema>): Promise<void> {
    await this.#cluster?.classesChanged(tx);
  }

  async classesChanged(): Promise<void> {
    await this.#registry.load();
  }

  entityChanged({ classId, ...change }: PeerChange): void {
    const stored = this.#registry.get(classId);
    if (stored !== undefined) this.#noticesOf(stored).tellHere(stored, { ...change, elsewhere: true });
  }

  sharedChanged(message: SharedMessage, elsewhere?: true): void {
    const stored = this.#registry.get(message.classId);
    const collection = stored === undefined ? undefined : this.#collectionOf(stored);
    if (stored === undefined || !(collection instanceof MemoryCollection)) return;
    if (message.kind === 'clear') {
      collection.applyClear(message.version);
      this.#noticesOf(stored).tellHere(stored, { operation: 'clear', elsewhere });
      return;
    }
    const { shape } = message;
    const writes = message.kind === 'entity' ? [message.written] : message.written;
    for (const written of writes) this.#sharedWritten(stored, collection, written, { shape, elsewhere });
  }

  #sharedWritten(
    stored: StoredClass,
    collection: MemoryCollection,
    written: SharedEntity,
    { shape, elsewhere }: { readonly shape: number; readonly elsewhere: true | undefined },
  ): void {
    const applied = collection.apply(written, shape);
    if (applied === false) return;
    const { before, after } = applied;
    // It had already ended here before its removal.
    if (before === undefined && after === undefined) return;
    const operation = after === undefined ? 'delete' : before === undefined ? 'create' : 'update';
    this.#noticesOf(stored).tellHere(stored, { operation, id: written.id, before, after, elsewhere });
  }

  notificationsChanged(classId: string, isSuspended: boolean, reload: boolean): void {
    const stored = this.#registry.get(classId);
    if (stored === undefined) return;
    const notices = this.#noticesOf(stored);
    if (isSuspended) notices.suspendHere();
    else notices.resumeHere(stored, reload);
  }

  async gap(): Promise<void> {
    await this.#registry.load();
    await this.#reloadShared();
    // Changes of tables may have been missed: subscribers have to reload.
    for (const stored of this.#registry.list()) this.#noticesOf(stored).tellHere(stored, { operation: 'reload' });
  }

  removed(stored: StoredClass): void {
    const { id } = stored;
    // Each node learns of it from the list of classes and notifies its own subscribers.
    this.#noticesOf(stored).tellHere(stored, { operation: 'clear' });
    const collection = this.#collections.get(id);
    if (collection instanceof MemoryCollection) collection.dispose();
    this.#collections.delete(id);
    this.#partitions.delete(id);
    this.#notices.delete(id);
  }

  readonly #refresh = (): Promise<void> => this.#registry.load();

  /** The collection with retries on class changes. */
  #fresh(stored: StoredClass): ModelCollection {
    return new FreshCollection(this.#collectionOf(stored), this.#refresh);
  }

  #collectionOf(stored: StoredClass): TableCollection | MemoryCollection {
    const collection = this.#collections.get(stored.id) ?? this.#makeCollection(stored);
    this.#collections.set(stored.id, collection);
    return collection;
  }

  #makeCollection(stored: StoredClass): TableCollection | MemoryCollection {
    const current = (): StoredClass => {
      const known = this.#registry.get(stored.id);
      if (known === undefined) throw new NotFoundError('Class', stored.classname);
      return known;
    };
    const notices = this.#noticesOf(stored);
    const options = { notices, orphans: this.#orphans, now: this.#now, current };
    if (isInMemory(stored.storage_mode)) {
      const entities = this.#sharedEntities(stored.id, current);
      const shared = (): SharedEntities | undefined => (current().storage_mode === 'ets' ? undefined : entities);
      return new MemoryCollection({ ...options, shared, onEnded: () => void this.#removeEnded(shared(), stored) });
    }
    return new TableCollection({ ...options, storage: this.#storage, partitions: this.#partitionsOf(stored.id) });
  }

  #noticesOf({ id, storage_mode: mode }: StoredClass): Notices {
    const known = this.#notices.get(id);
    if (known !== undefined) return known;
    const cluster = this.#cluster;
    const suspended = (isSuspended: boolean, reload: boolean): void =>
      cluster?.notificationsChanged(id, isSuspended, reload);
    // For shared entities, each node notifies its own subscribers; `ets` entities exist on one node only.
    const peers: Peers = isInMemory(mode)
      ? { suspended }
      : { suspended, changed: (change) => cluster?.entityChanged({ ...change, classId: id }) };
    const notices = new Notices(this.#listeners, this.#storage.log, cluster === undefined ? undefined : peers);
    this.#notices.set(id, notices);
    return notices;
  }

  #sharedEntities(id: string, current: () => StoredClass): SharedEntities | undefined {
    const cluster = this.#cluster;
    if (cluster === undefined) return undefined;
    return new SharedEntities({
      storage: this.#storage,
      current,
      own: this.#own,
      publish: (message, mark, tx) => cluster.sharedChanged(message, mark, tx),
      follow: (message) => this.sharedChanged(message),
      onOverdue: () => this.#readAnew(id),
    });
  }

  /** A notice of this node is missing: subscribers have to reload, too. */
  async #readAnew(id: string): Promise<void> {
    const stored = this.#registry.get(id);
    const collection = this.#collections.get(id);
    if (stored === undefined || !(collection instanceof MemoryCollection)) return;
    this.#storage.log.warn({ classname: stored.classname }, 'change notices are late; reloading entities');
    await collection.reload();
    this.#noticesOf(stored).tellHere(stored, { operation: 'reload' });
  }

  async #removeEnded(shared: SharedEntities | undefined, { classname }: StoredClass): Promise<void> {
    try {
      await shared?.removeEnded(this.#now());
    } catch (error) {
      // They are removed from memory; the next sweep deletes them from the table.
      this.#storage.log.warn({ err: error, classname }, 'ended entities are still in the database');
    }
  }

  async #reloadShared(): Promise<void> {
    if (this.#cluster === undefined) return;
    for (const stored of this.#registry.list()) {
      if (!isInMemory(stored.storage_mode)) continue;
      const collection = this.#collectionOf(stored);
      if (collection instanceof MemoryCollection) await collection.reload();
    }
  }

  #partitionsOf(id: string): Partitions {
    const partitions = this.#partitions.get(id) ?? new Partitions();
    this.#partitions.set(id, partitions);
    return partitions;
  }

  /** Drops partitions beyond the retention of their class. */
  async #expirePartitions(): Promise<void> {
    for (const stored of this.#registry.list()) {
      if (!isPartitioned(stored.storage_mode)) continue;
      try {
        const dropped = await this.#partitionsOf(stored.id).expire(this.#storage.db, stored, this.#now());
        if (dropped.length > 0)
          this.#storage.log.info({ classname: stored.classname, dropped }, 'old partitions dropped');
      } catch (error) {
        // The next round tries again; the other classes are still handled.
        this.#storage.log.error({ err: error, classname: stored.classname }, 'old partitions were not dropped');
      }
    }
  }
}

/** The settings without internal fields. */
function settingsOf(stored: StoredClass): ClassDefinition {
  const { id, domain_id, classname, name, description, parent_id, storage_mode, properties, opts, ext } = stored;
  return { id, domain_id, classname, name, description, parent_id, storage_mode, properties, opts, ext };
}
