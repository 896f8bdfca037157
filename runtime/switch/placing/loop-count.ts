import type { DomainName } from '../../domain-name/index.ts';

/** Most loops of one domain at a time. The limit stops a scenario that calls itself. */
const MAX_LOOPS = 100;

/** The live loops of each domain: calls between scenarios, and from scenarios to conferences. */
export class LoopCount {
  readonly #live = new Map<DomainName, number>();

  /** Counts a new loop. @returns a function that takes it off the count; undefined at the limit */
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
