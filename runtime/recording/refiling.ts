import type { RecordRow } from './archive.ts';

/** Milliseconds after which the store is tried again. */
const AGAIN_MS = 60_000;

/**
 * Recordings whose store did not take them: they stay on this machine and are offered to it again, after a while and
 * whenever it takes another one.
 */
export class Refiling {
  readonly #waiting = new Map<string, RecordRow>();
  readonly #file: (row: RecordRow) => Promise<boolean>;
  #timer: NodeJS.Timeout | undefined;
  #trying: Promise<void> | undefined;

  /** @param file offers a recording once more; gives whether the store has it; never rejects */
  constructor(file: (row: RecordRow) => Promise<boolean>) {
    this.#file = file;
  }

  /** Recordings that wait. */
  get count(): number {
    return this.#waiting.size;
  }

  add(row: RecordRow): void {
    this.#waiting.set(row.id, row);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.tryAll();
    }, AGAIN_MS).unref();
  }

  /** Offers them one after another, until one is not taken. */
  async tryAll(): Promise<void> {
    this.#trying ??= this.#try().finally(() => {
      this.#trying = undefined;
    });
    await this.#trying;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#trying;
  }

  async #try(): Promise<void> {
    for (const [id, row] of this.#waiting) {
      this.#waiting.delete(id);
      if (await this.#file(row)) continue;
      this.add(row);
      return;
    }
  }
}
