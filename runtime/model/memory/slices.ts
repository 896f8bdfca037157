/**
 * Long work over entities in memory, in slices: the thread also carries calls. However many work at a time, between two
 * slices of any of them the thread does what else there is.
 */

/** Milliseconds of one slice. */
const SLICE_MS = 2;
/** Items between two looks at the clock. */
const LOOK_EVERY = 64;

const waiting: (() => void)[] = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}

/** Resolves in a turn of the event loop that is nobody else's here. */
async function turn(): Promise<void> {
  const mine = new Promise<void>((resolve) => {
    waiting.push(resolve);
  });
  if (waiting.length === 1) setImmediate(next);
  await mine;
}

/** One piece of work; `await pause()` where `isOver`. */
export class Slices {
  #until = performance.now() + SLICE_MS;
  #items = 0;

  /** In a turn of its own, too: many may be asked for at once. */
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
