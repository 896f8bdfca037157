/** Hash indexes of the stores. */

/** Normalises a URI: without angle brackets, host in lower case. */
export function normalUri(uri: string): string {
  const plain = uri.trim().replace(/^<|>$/g, '');
  const at = plain.lastIndexOf('@');
  return at === -1 ? plain.toLowerCase() : plain.slice(0, at) + plain.slice(at).toLowerCase();
}

/** The key of a user at a host. Hosts are compared without regard to case (RFC 3261 section 19.1.4). */
export function atHost(user: string, host: string): string {
  return `${user}@${host.toLowerCase()}`;
}

/** Adds `id` to the set of `key`. */
export function add(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([id]));
  else set.add(id);
}

/** Removes `id` from the set of `key`. */
export function remove(map: Map<string, Set<string>>, key: string, id: string): void {
  const set = map.get(key);
  if (set === undefined) return;
  set.delete(id);
  if (set.size === 0) map.delete(key);
}

/**
 * Entries by key. Most keys have one entry, stored directly in the map: a set for each would add three memory accesses
 * per look-up, and most of the store's size.
 */
export class KeyIndex<Entry extends object> {
  readonly #entries = new Map<string, Entry | Set<Entry>>();

  add(key: string, entry: Entry): void {
    const found = this.#entries.get(key);
    if (found === undefined) this.#entries.set(key, entry);
    else if (found instanceof Set) found.add(entry);
    else if (found !== entry) this.#entries.set(key, new Set([found, entry]));
  }

  remove(key: string, entry: Entry): void {
    const found = this.#entries.get(key);
    if (found === entry) this.#entries.delete(key);
    else if (found instanceof Set && found.delete(entry) && found.size === 0) this.#entries.delete(key);
  }

  /** In order of addition. */
  get(key: string): Iterable<Entry> {
    const found = this.#entries.get(key);
    if (found === undefined) return [];
    return found instanceof Set ? found : [found];
  }

  /** Entries of each key that has some. */
  counts(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#entries, ([key, found]) => [key, found instanceof Set ? found.size : 1]));
  }

  count(key: string): number {
    const found = this.#entries.get(key);
    if (found === undefined) return 0;
    return found instanceof Set ? found.size : 1;
  }
}
