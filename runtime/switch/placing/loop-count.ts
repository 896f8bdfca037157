/** Loops of one domain at once; the limit stops a scenario that calls itself. */
const MAX_LOOPS = 100;

/** The live loops of each domain: calls between scenarios, and from scenarios to conferences. */
export class LoopCount {
  readonly #live = new Map<string, number>();

  /** @returns a function that gives the place back; undefined when all places are taken */
  take(domain: string): (() => void) | undefined {
    const key = domain.toLowerCase();
    const before = this.#live.get(key) ?? 0;
    if (before >= MAX_LOOPS) return undefined;
    this.#live.set(key, before + 1);
    return () => {
      const left = (this.#live.get(key) ?? 1) - 1;
      if (left > 0) this.#live.set(key, left);
      else this.#live.delete(key);
    };
  }
}
