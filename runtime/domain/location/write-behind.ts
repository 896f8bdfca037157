/** Collects changes during a write, so that at most one statement waits. Only the newest state of a key is written. */

export interface WriteBehindOptions<Key> {
  /** Writes the present state of these keys; a rejection means that none was written. */
  write(keys: readonly Key[]): Promise<void>;
  onError(error: unknown, keys: number): void;
  /** Largest number of keys per statement. Default 500. */
  readonly batch?: number;
  /** Milliseconds after which a caller no longer waits for a running write. Default 1,000. */
  readonly patienceMs?: number;
  /** Milliseconds before a failed write is tried again. Default 1,000. */
  readonly retryMs?: number;
}

export class WriteBehind<Key> {
  readonly #options: WriteBehindOptions<Key>;
  readonly #batch: number;
  readonly #patienceMs: number;
  readonly #retryMs: number;
  #dirty = new Map<string, Key>();
  /** Settles when all pending changes are written. */
  #next = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: WriteBehindOptions<Key>) {
    this.#options = options;
    this.#batch = options.batch ?? 500;
    this.#patienceMs = options.patienceMs ?? 1_000;
    this.#retryMs = options.retryMs ?? 1_000;
  }

  /** Number of keys waiting to be written. */
  get pending(): number {
    return this.#dirty.size;
  }

  /** Marks keys as changed. Resolves when they are written, or after `patienceMs` when the database is slow or down. */
  async mark(keys: Iterable<readonly [string, Key]>): Promise<void> {
    for (const [name, key] of keys) this.#dirty.set(name, key);
    const written = this.#next.promise;
    this.#start();
    const { promise: patience, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#patienceMs);
    await Promise.race([written, patience]);
    clearTimeout(timer);
  }

  /** Writes pending changes once. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#running;
    if (this.#dirty.size > 0) await this.#run();
  }

  #start(): void {
    if (this.#running !== undefined || this.#retry !== undefined || this.#closed) return;
    // Other changes in this event loop turn join the batch.
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
        if (this.#dirty.size > 0) this.#start();
      });
  }

  async #run(): Promise<void> {
    const all = this.#dirty;
    const done = this.#next;
    this.#dirty = new Map();
    this.#next = Promise.withResolvers();
    const keys = [...all.values()];
    try {
      for (let from = 0; from < keys.length; from += this.#batch) {
        await this.#options.write(keys.slice(from, from + this.#batch));
      }
      done.resolve();
    } catch (error) {
      this.#options.onError(error, all.size);
      // Newer changes of the same keys stay pending; their callers wait for the same write.
      for (const [name, key] of all) this.#dirty.set(name, key);
      void this.#next.promise.then(done.resolve);
      if (this.#closed) return;
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#start();
      }, this.#retryMs);
    }
  }
}
