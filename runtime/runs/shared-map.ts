/** A map whose snapshots cost nothing: they share its content until the next change, which copies it. */
export class SharedMap<Key, Value> {
  #map = new Map<Key, Value>();
  #isShared = false;

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  values(): Iterable<Value> {
    return this.#map.values();
  }

  entries(): Iterable<[Key, Value]> {
    return this.#map.entries();
  }

  set(key: Key, value: Value): void {
    if (this.#map.get(key) !== value) this.#own().set(key, value);
  }

  delete(key: Key): boolean {
    return this.#map.has(key) && this.#own().delete(key);
  }

  replace(entries: Iterable<readonly [Key, Value]>): void {
    this.#map = new Map(entries);
    this.#isShared = false;
  }

  /** The present content, which never changes. */
  snapshot(): ReadonlyMap<Key, Value> {
    this.#isShared = true;
    return this.#map;
  }

  #own(): Map<Key, Value> {
    if (this.#isShared) this.replace(this.#map);
    return this.#map;
  }
}
