/** How long a peer that sent something counts as alive, ms: once to twice this long. */
const PERIOD = 500;
/** Peers remembered in a period: an address costs nothing to invent. */
const LIMIT = 10_000;

/** The addresses that datagrams came from just now. Two generations, so that nothing is kept per datagram. */
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

  /** Something came from there. */
  heard(address: string, port: number): void {
    this.#turn();
    if (this.#current.size < LIMIT) this.#current.add(`${address}|${port}`);
  }

  /** Whether something came from there within the last half second; false after a second at the latest. */
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
