/** Remembers which peers have recently sent something. */

/** Length of one generation, ms. A peer counts as alive for one to two of them. */
const PERIOD = 500;
/** Largest number of peers remembered in one generation, since addresses can be forged. */
const LIMIT = 10_000;

/** The recent sources of datagrams, in two generations: no timestamp or timer is needed for each of them. */
export class RecentPeers {
  readonly #now: () => number;
  #current = new Set<string>();
  #previous = new Set<string>();
  #since: number;

  /** @param now ms, monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** Notes a datagram from this address. */
  heard(address: string, port: number): void {
    this.#turn();
    if (this.#current.size < LIMIT) this.#current.add(`${address}|${port}`);
  }

  /** Whether a datagram came from there: true for at least 0.5 s after the last one, false after 1 s. */
  has(address: string, port: number): boolean {
    this.#turn();
    const key = `${address}|${port}`;
    return this.#current.has(key) || this.#previous.has(key);
  }

  #turn(): void {
    const now = this.#now();
    const age = now - this.#since;
    if (age < PERIOD) return;
    this.#previous = age < 2 * PERIOD ? this.#current : new Set();
    this.#current = new Set();
    this.#since = now;
  }
}
