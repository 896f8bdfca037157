/** The location service: answers from memory, and stores the table `registrations` for the next start. */
import type { ContactBinding, LocationStore } from '../directory.ts';
import type { Storage } from '../../storage/index.ts';
import { type BindingKey, ContactTable, type StoredBinding } from './contact-table.ts';
import { deleteBindings, loadBindings, writeBindings } from './registration-rows.ts';
import { WriteBehind } from './write-behind.ts';

/** Shortest interval between expiry checks, whatever the number of contacts. */
const SWEEP_MS = 1_000;

export class PersistentLocation implements LocationStore {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #table = new ContactTable();
  readonly #writes: WriteBehind<BindingKey>;
  readonly #listeners: ((sipUserId: string) => void)[] = [];
  #sweepTimer: NodeJS.Timeout | undefined;
  #sweepAt = Number.POSITIVE_INFINITY;

  constructor(storage: Storage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
    this.#writes = new WriteBehind<BindingKey>({
      write: (keys) => this.#write(keys),
      onError: (error, keys) => storage.log.error({ err: error, keys }, 'registrations not stored, trying again'),
    });
  }

  async load(): Promise<void> {
    for (const binding of await loadBindings(this.#storage, this.#now())) this.#put(binding);
    await this.#storage.db.deleteFrom('registrations').where('expires', '<=', this.#now()).execute();
  }

  contacts(sipUserId: string): readonly ContactBinding[] {
    const now = this.#now();
    return this.#table.of(sipUserId).filter((binding) => binding.expires > now);
  }

  /** Resolves when the binding is stored, or after a second when the database is slow. */
  async save(binding: ContactBinding): Promise<void> {
    const now = this.#now();
    if (binding.expires <= now) {
      await this.remove(binding.sipUserId, binding.contact);
      return;
    }
    const since = this.#live(binding)?.since ?? now;
    const evicted = this.#put({ ...binding, since, saved: now });
    await this.#mark([binding, ...evicted]);
  }

  async remove(sipUserId: string, contact: string): Promise<void> {
    if (this.#table.remove({ sipUserId, contact })) await this.#mark([{ sipUserId, contact }]);
  }

  async removeAll(sipUserId: string): Promise<void> {
    const removed = this.#table.of(sipUserId);
    for (const binding of removed) this.#table.remove(binding);
    if (removed.length > 0) await this.#mark(removed);
  }

  onChange(listener: (sipUserId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** All contacts that have not expired. */
  *registered(): Generator<StoredBinding> {
    const now = this.#now();
    for (const binding of this.#table.all()) if (binding.expires > now) yield binding;
  }

  count(): number {
    return this.#table.count;
  }

  /** Writes pending changes and stops the timer; the storage must still be open. */
  async close(): Promise<void> {
    clearTimeout(this.#sweepTimer);
    await this.#writes.close();
  }

  #live(key: BindingKey): StoredBinding | undefined {
    const binding = this.#table.get(key);
    return binding !== undefined && binding.expires > this.#now() ? binding : undefined;
  }

  #put(binding: StoredBinding): readonly StoredBinding[] {
    const evicted = this.#table.put(binding);
    this.#sweepNoLaterThan(binding.expires);
    return evicted;
  }

  async #mark(keys: readonly BindingKey[]): Promise<void> {
    for (const id of new Set(keys.map(({ sipUserId }) => sipUserId)))
      for (const listener of this.#listeners) listener(id);
    await this.#writes.mark(
      keys.map(({ sipUserId, contact }) => [`${sipUserId} ${contact}`, { sipUserId, contact }] as const),
    );
  }

  async #write(keys: readonly BindingKey[]): Promise<void> {
    const live: StoredBinding[] = [];
    const gone: BindingKey[] = [];
    for (const key of keys) {
      const binding = this.#table.get(key);
      if (binding === undefined) gone.push(key);
      else live.push(binding);
    }
    if (live.length > 0) await writeBindings(this.#storage, live);
    if (gone.length > 0) await deleteBindings(this.#storage, gone);
  }

  #sweepNoLaterThan(time: number): void {
    if (time >= this.#sweepAt) return;
    this.#sweepAt = time;
    clearTimeout(this.#sweepTimer);
    // At most a day: a longer delay would overflow the timer, and an early check does no harm.
    const delay = Math.min(Math.max(time - this.#now(), SWEEP_MS), 86_400_000);
    this.#sweepTimer = setTimeout(() => this.#sweep(), delay).unref();
  }

  #sweep(): void {
    const now = this.#now();
    const expired: StoredBinding[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const binding of this.#table.all()) {
      if (binding.expires <= now) expired.push(binding);
      else next = Math.min(next, binding.expires);
    }
    for (const binding of expired) this.#table.remove(binding);
    this.#sweepAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.#sweepNoLaterThan(next);
    if (expired.length > 0) void this.#mark(expired);
  }
}
