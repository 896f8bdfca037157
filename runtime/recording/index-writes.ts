/** Writes into the index of recordings, which wait while the database is away. */
import { StorageUnavailableError } from '../storage/index.ts';

type Write = () => Promise<unknown>;

/** Milliseconds between two attempts. */
const RETRY_MS = 2_000;
/** Milliseconds that a stopping node waits for the database. */
const CLOSE_MS = 2_000;
/** Writes that wait in memory; more are refused. */
const MOST_WAITING = 10_000;

/**
 * Does writes in their order. While the database is away they wait in memory: a node that is killed then loses entries, whose
 * files stay in the archive.
 */
export class IndexWrites {
  readonly #waiting: Write[] = [];
  /** At work for the first time. */
  readonly #begun = new Set<Promise<unknown>>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Writes at once, or later when the database is away. A write may be repeated, because its answer may be lost.
   * @throws errors of the write itself; StorageUnavailableError when too many wait
   */
  async do(write: Write): Promise<void> {
    if (this.#waiting.length === 0) {
      const begun = write();
      this.#begun.add(begun);
      try {
        await begun;
        return;
      } catch (error) {
        if (!(error instanceof StorageUnavailableError)) throw error;
      } finally {
        this.#begun.delete(begun);
      }
    }
    if (this.#waiting.length >= MOST_WAITING)
      throw new StorageUnavailableError(`${MOST_WAITING} entries of recordings wait for the database already.`);
    this.#waiting.push(write);
    this.#later();
  }

  /** Resolves when all writes so far are done. @throws StorageUnavailableError while some wait */
  async caughtUp(): Promise<void> {
    await Promise.allSettled(this.#begun);
    if (this.#waiting.length > 0) await this.flush();
    if (this.#waiting.length > 0) throw new StorageUnavailableError('Entries of recordings wait for the database.');
  }

  /** Tries now what waits. Never rejects: what cannot be written waits on. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#later();
    });
    await this.#writing;
  }

  /** Writes what waits, for up to two seconds. @returns number of lost writes */
  async close(): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    clearTimeout(this.#timer);
    return this.#waiting.length;
  }

  #later(): void {
    this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
  }

  async #write(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await next();
      } catch (error) {
        if (error instanceof StorageUnavailableError) return;
        // Nobody waits for it any more; the next ones are of other recordings.
      }
      this.#waiting.shift();
    }
  }
}
