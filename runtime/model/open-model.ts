import type { Storage } from '../storage/index.ts';
import { Attachments } from './attachments/attachments.ts';
import { Orphans } from './attachments/orphans.ts';
import type { ClassDefinition } from './class-definition.ts';
import { type ClassFollower, ClassRegistry } from './class-registry.ts';
import { hasTable, isInMemory, isPartitioned, MAX_CLASSNAME_PARTS } from './class-settings.ts';
import { NotFoundError } from './errors.ts';
import { MemoryCollection } from './memory/memory-collection.ts';
import type { Input, Model, ModelClasses, ModelCollection, ModelListener, ModelSettings } from './model.ts';
import { Notices } from './notices.ts';
import type { StoredClass } from './stored-class.ts';
import { Partitions } from './table/partitions.ts';
import { TableCollection } from './table/table-collection.ts';

const RETENTION_INTERVAL_MS = 3_600_000;
const SWEEP_INTERVAL_MS = 600_000;
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Loads the classes. Entities of memory classes begin empty: they do not outlive the node. */
export async function openModel(storage: Storage, settings: ModelSettings): Promise<Model> {
  const model = new LiveModel(storage, settings);
  await model.open();
  return model;
}

class LiveModel implements Model, ClassFollower {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #registry: ClassRegistry;
  readonly #listeners = new Set<ModelListener>();
  /** By id of the class. */
  readonly #collections = new Map<string, ModelCollection>();
  readonly #partitions = new Map<string, Partitions>();
  readonly #orphans: Orphans;
  readonly attachments: Attachments;
  readonly #timers: NodeJS.Timeout[] = [];
  #retention: Promise<void> = Promise.resolve();

  constructor(storage: Storage, { now = Date.now, files, maxFileBytes = MAX_FILE_BYTES }: ModelSettings) {
    this.#storage = storage;
    this.#now = now;
    this.#registry = new ClassRegistry(storage, now);
    this.#orphans = new Orphans({
      storage,
      files,
      now,
      classes: () => this.#registry.list(),
      isInMemory: ({ storage_mode: mode }) => isInMemory(mode),
      inMemory: ({ id }, hasha) => {
        const collection = this.#collections.get(id);
        return collection instanceof MemoryCollection && collection.hasFile(hasha);
      },
    });
    this.attachments = new Attachments({ files, orphans: this.#orphans, limit: maxFileBytes, now });
  }

  async open(): Promise<void> {
    await this.#registry.load();
    await this.#expirePartitions();
    this.#every(RETENTION_INTERVAL_MS, () => this.#expirePartitions());
    this.#every(SWEEP_INTERVAL_MS, () => this.sweepFiles().then(() => undefined));
  }

  async sweepFiles(graceMs?: number): Promise<number> {
    try {
      const removed = await this.#orphans.sweep(graceMs);
      if (removed > 0) this.#storage.log.info({ removed }, 'files that no entity has any more were removed');
      return removed;
    } catch (error) {
      // They stay suspect; the next round tries again.
      this.#storage.log.error({ err: error }, 'files that no entity has any more were not removed');
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
      update: async (id, input) => settingsOf(await registry.update(domain, id, input, this)),
      remove: async (id) => {
        const stored = own(id);
        if (stored !== undefined && hasTable(stored)) await this.#orphans.emptied(stored);
        await registry.remove(domain, id, this);
      },
    };
  }

  collection(domain: string, classname: string): ModelCollection {
    const stored = this.#registry.named(domain, classname);
    if (stored === undefined || stored.storage_mode === 'abstract') throw new NotFoundError('Class', classname);
    return this.#collectionOf(stored);
  }

  find(
    domain: string,
    segments: readonly string[],
  ): { readonly collection: ModelCollection; readonly rest: readonly string[] } | undefined {
    for (let length = Math.min(segments.length, MAX_CLASSNAME_PARTS); length > 0; length -= 1) {
      const stored = this.#registry.named(domain, segments.slice(0, length).join('/'));
      if (stored === undefined || stored.storage_mode === 'abstract') continue;
      return { collection: this.#collectionOf(stored), rest: segments.slice(length) };
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
    for (const collection of this.#collections.values()) {
      if (collection instanceof MemoryCollection) collection.dispose();
    }
  }

  check(next: StoredClass): void {
    const collection = this.#collections.get(next.id);
    if (collection instanceof MemoryCollection) collection.checkAdoption(next);
  }

  changed(next: StoredClass): void {
    const collection = this.#collections.get(next.id);
    if (collection instanceof MemoryCollection) collection.adopt(next);
  }

  removed(id: string): void {
    const collection = this.#collections.get(id);
    if (collection instanceof MemoryCollection) collection.dispose();
    this.#collections.delete(id);
    this.#partitions.delete(id);
  }

  #collectionOf(stored: StoredClass): ModelCollection {
    const collection = this.#collections.get(stored.id) ?? this.#makeCollection(stored);
    this.#collections.set(stored.id, collection);
    return collection;
  }

  #makeCollection(stored: StoredClass): ModelCollection {
    const current = (): StoredClass => {
      const known = this.#registry.get(stored.id);
      if (known === undefined) throw new NotFoundError('Class', stored.classname);
      return known;
    };
    const notices = new Notices(this.#listeners, this.#storage.log);
    const options = { notices, orphans: this.#orphans, now: this.#now, current };
    if (isInMemory(stored.storage_mode)) return new MemoryCollection(options);
    return new TableCollection({ ...options, storage: this.#storage, partitions: this.#partitionsOf(stored.id) });
  }

  #partitionsOf(id: string): Partitions {
    const partitions = this.#partitions.get(id) ?? new Partitions();
    this.#partitions.set(id, partitions);
    return partitions;
  }

  /** Drops partitions that are older than their class keeps them. */
  async #expirePartitions(): Promise<void> {
    for (const stored of this.#registry.list()) {
      if (!isPartitioned(stored.storage_mode)) continue;
      try {
        const dropped = await this.#partitionsOf(stored.id).expire(this.#storage.db, stored, this.#now());
        if (dropped.length > 0)
          this.#storage.log.info({ classname: stored.classname, dropped }, 'old partitions dropped');
      } catch (error) {
        // The next round tries again; the other classes are not kept waiting.
        this.#storage.log.error({ err: error, classname: stored.classname }, 'old partitions were not dropped');
      }
    }
  }
}

/** Without what the node keeps beside them. */
function settingsOf(stored: StoredClass): ClassDefinition {
  const { id, domain_id, classname, name, description, parent_id, storage_mode, properties, opts, ext } = stored;
  return { id, domain_id, classname, name, description, parent_id, storage_mode, properties, opts, ext };
}
