/**
 * Divides long work over entities in memory into slices, because the thread also carries calls. Between two slices of
 * any work the thread handles other events, however much work is queued.
 */

/** Milliseconds of one slice. */
const SLICE_MS = 2;
/** Items between two checks of the clock. */
const LOOK_EVERY = 64;

const waiting: (() => void)[] = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/** Resolves in an event loop turn of its own. */
async function turn(): Promise<void> {
  const mine = new Promise<void>((resolve) => {
    waiting.push(resolve);
  });
  if (waiting.length === 1) setImmediate(next);
  await mine;
}

/** One task; it calls `await pause()` when `isOver`. */
export class Slices {
  #until = performance.now() + SLICE_MS;
  #items = 0;

  /** Begins in a turn of its own, because many tasks may start at once. */
  static async begin(): Promise<Slices> {
    await turn();
    return new Slices();
  }

  /** Counts an item; true when the slice is used up. */
  get isOver(): boolean {
    this.#items += 1;
    return this.#items % LOOK_EVERY === 0 && performance.now() >= this.#until;
  }

  async pause(): Promise<void> {
    await turn();
    this.#until = performance.now() + SLICE_MS;
  }
}
