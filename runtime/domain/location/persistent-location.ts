/** The location service: answers from memory, and stores the table `registrations` for the next start. */
import type { ContactBinding, LocationStore } from '../directory.ts';
import type { Storage } from '../../storage/index.ts';
import { type BindingKey, ContactTable, type StoredBinding } from './contact-table.ts';
import { deleteBindings, loadBindings, writeBindings } from './registration-rows.ts';
import { WriteBehind } from './write-behind.ts';

/** Tells the other nodes of a cluster of the contacts that change at this one. */
export interface ContactSharing {
  /** The time of a change that is made now: later than all changes that this node knows of. @param now by its clock */
  stamp(now: number): number;
  saved(binding: StoredBinding): void;
  /** @param at milliseconds since the epoch */
  removed(key: BindingKey, at: number): void;
}

/** Shortest interval between expiry checks, whatever the number of contacts. */
const SWEEP_MS = 1_000;

export class PersistentLocation implements LocationStore {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #table = new ContactTable();
  readonly #writes: WriteBehind<BindingKey>;
  readonly #listeners: ((sipUserId: string) => void)[] = [];
  /** Contacts that registered at another node, which stores them. */
  readonly #elsewhere = new Set<string>();
  #sharing: ContactSharing | undefined;
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
    const stored = { ...binding, since, saved: this.#sharing?.stamp(now) ?? now };
    const evicted = this.#put(stored);
    this.#elsewhere.delete(nameOf(binding));
    this.#sharing?.saved(stored);
    this.#shareRemoval(evicted);
    await this.#mark([binding, ...evicted]);
  }

  async remove(sipUserId: string, contact: string): Promise<void> {
    const key = { sipUserId, contact };
    if (!this.#table.remove(key)) return;
    this.#shareRemoval([key]);
    await this.#mark([key]);
  }

  async removeAll(sipUserId: string): Promise<void> {
    const removed = this.#table.of(sipUserId);
    for (const binding of removed) this.#table.remove(binding);
    this.#shareRemoval(removed);
    if (removed.length > 0) await this.#mark(removed);
  }

  onChange(listener: (sipUserId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Tells the changes of contacts at this node from now on. */
  shareWith(sharing: ContactSharing): void {
    this.#sharing = sharing;
  }

  /** A contact was registered at another node, which stores it. Older ones than the known one are ignored. */
  receive(binding: StoredBinding): void {
    const known = this.#table.get(binding);
    if (binding.expires <= this.#now() || (known !== undefined && known.saved >= binding.saved)) return;
    this.#elsewhere.add(nameOf(binding));
    const evicted = this.#put(binding);
    for (const old of evicted) this.#elsewhere.delete(nameOf(old));
    this.#changed([binding]);
  }

  /** A contact was removed at another node. @param at milliseconds since the epoch; newer registrations stay */
  receiveRemoval(key: BindingKey, at: number): void {
    const known = this.#table.get(key);
    if (known === undefined || known.saved > at) return;
    this.#table.remove(key);
    this.#elsewhere.delete(nameOf(key));
    this.#changed([key]);
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

  #shareRemoval(keys: readonly BindingKey[]): void {
    for (const key of keys) {
      this.#elsewhere.delete(nameOf(key));
      this.#sharing?.removed(key, this.#sharing.stamp(this.#now()));
    }
  }

  #changed(keys: readonly BindingKey[]): void {
    for (const id of new Set(keys.map(({ sipUserId }) => sipUserId)))
      for (const listener of this.#listeners) listener(id);
  }

  async #mark(keys: readonly BindingKey[]): Promise<void> {
    this.#changed(keys);
    await this.#writes.mark(
      keys.map(({ sipUserId, contact }) => [nameOf({ sipUserId, contact }), { sipUserId, contact }] as const),
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
    // The node where it registered removes a contact from the database; it may have been renewed there just now.
    const own = expired.filter((binding) => !this.#elsewhere.delete(nameOf(binding)));
    if (own.length > 0) void this.#mark(own);
    this.#changed(expired.filter((binding) => !own.includes(binding)));
  }
}

function nameOf({ sipUserId, contact }: BindingKey): string {
  return `${sipUserId} ${contact}`;
}
