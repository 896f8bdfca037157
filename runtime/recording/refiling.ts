/** Offers refused recordings to their store again. */
import type { RecordRow } from './archive.ts';

/** Milliseconds until the store is tried again. */
const AGAIN_MS = 60_000;

/**
 * Recordings refused by their store. They stay on this machine and are offered again after a while, and whenever the
 * store accepts another one.
 */
export class Refiling {
  readonly #waiting = new Map<string, RecordRow>();
  readonly #file: (row: RecordRow) => Promise<boolean>;
  #timer: NodeJS.Timeout | undefined;
  #trying: Promise<void> | undefined;

  /** @param file offers a recording again; resolves to true when the store has it; never rejects */
  constructor(file: (row: RecordRow) => Promise<boolean>) {
    this.#file = file;
  }

  /** Number of waiting recordings. */
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

  /** Offers them one after another until one is refused. */
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
