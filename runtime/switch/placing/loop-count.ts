import type { DomainName } from '../../domain-name/index.ts';

/** Loops of one domain at once; the limit stops a scenario that calls itself. */
const MAX_LOOPS = 100;

/** The live loops of each domain: calls between scenarios, and from scenarios to conferences. */
export class LoopCount {
  readonly #live = new Map<DomainName, number>();

  /** @returns a function that gives the place back; undefined when all places are taken */
  take(domain: DomainName): (() => void) | undefined {
    const before = this.#live.get(domain) ?? 0;
    if (before >= MAX_LOOPS) return undefined;
    this.#live.set(domain, before + 1);
    return () => {
      const left = (this.#live.get(domain) ?? 1) - 1;
      if (left > 0) this.#live.set(domain, left);
      else this.#live.delete(domain);
    };
  }
}
