import type { DomainName } from '../../domain-name/index.ts';

/** Times of the last call to members of hunt groups, for the strategy "least recent". */
export interface HuntHistory {
  /** Milliseconds since the epoch; 0: never. */
  last(domain: DomainName, number: string): number;
  note(domain: DomainName, number: string, now: number): void;
}

const MAX_NUMBERS = 100_000;

/** A history in memory. The numbers with the oldest calls are dropped first. */
export class MemoryHuntHistory implements HuntHistory {
  readonly #last = new Map<string, number>();
  /** Tells the other nodes of a call; absent on a single node. */
  tell: ((domain: DomainName, number: string, now: number) => void) | undefined;

  last(domain: DomainName, number: string): number {
    return this.#last.get(`${domain} ${number}`) ?? 0;
  }

  note(domain: DomainName, number: string, now: number): void {
    this.#note(domain, number, now);
    this.tell?.(domain, number, now);
  }

  /** A call at another node. */
  hear(domain: DomainName, number: string, at: number): void {
    if (at > this.last(domain, number)) this.#note(domain, number, at);
  }

  #note(domain: DomainName, number: string, now: number): void {
    const key = `${domain} ${number}`;
    // The map keeps insertion order.
    this.#last.delete(key);
    this.#last.set(key, now);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_NUMBERS && oldest !== undefined) this.#last.delete(oldest);
  }
}
