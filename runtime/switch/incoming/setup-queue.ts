/** Foretells the set-up time of a call from the endpoints that media servers are making. */

/** Milliseconds above which an endpoint has waited for others. */
const SLOW_MS = 100;
/** Milliseconds of nothing but slow endpoints that make a standing queue. After a burst or a pause, some are fast. */
const STANDING_MS = 150;
/** Milliseconds for the next endpoint above which calls are refused. The answer then takes half as long again. */
const MOST_MS = 650;
/** The same during overload: shorter, so that accepted calls are set up fast. */
const OVERLOADED_MS = 150;
/** Endpoints that are no queue, however slow each is: those of ten calls between phones. */
const FEW = 20;
/** Endpoints of a call between phones. */
const ENDPOINTS = 2;
/** Endpoints that are too many to wait for a proof that the queue stands: those of two hundred calls at once. */
const MANY = 400;
/** Weight of earlier endpoints at each new one: about the last twenty count. */
const MEMORY = 0.95;
/** Growth of the time of a lone endpoint at each one that took longer: a media server may move away. */
const DRIFT = 1.25;

/**
 * The endpoints that media servers are making: one or two for each new call. They are slow when any thread or server has too
 * much to do. So they show an overload before anything else fails.
 *
 * The queue foretells the time for the next endpoint: its place in the queue, times the recent time for each place (Little's
 * law). A measured time alone shows an overload too late, when many slow calls wait already. As in CoDel (RFC 8289),
 * only a standing queue counts. A burst, a garbage collection or a stopped process leaves one that drains.
 */
export class SetupQueue {
  readonly #now: () => number;
  #length = 0;
  /** Time of the first of the slow endpoints in a row. */
  #slowSince: number | undefined;
  #standing = false;
  #overloaded = false;
  /** Milliseconds of an endpoint that waits for no other: 3 to 60 nearby, more for a media server far away. */
  #aloneMs = Number.POSITIVE_INFINITY;
  /** Sums over the latest endpoints: the milliseconds that they waited, and their places in the queue. */
  #milliseconds = 0;
  #places = 0;

  /** Calls on their way here, which make endpoints soon. */
  coming: () => number = () => 0;
  /** The queue has changed, and with it perhaps `room`. */
  onChange: () => void = () => undefined;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Measures one endpoint. A failed one is not counted: some fail at once, others after a timeout. */
  async measure<T>(make: () => Promise<T>): Promise<T> {
    const end = this.begin();
    let made = false;
    try {
      const endpoint = await make();
      made = true;
      return endpoint;
    } finally {
      end(made);
    }
  }

  /** Begins to measure one endpoint. @returns to be called once, with false for a failed endpoint */
  begin(): (made: boolean) => void {
    const began = this.#now();
    const place = ++this.#length;
    this.onChange();
    return (made) => {
      if (made) this.#made(this.#now() - began, place);
      if (--this.#length === 0) this.#drained();
      this.onChange();
    };
  }

  /**
   * Milliseconds that the next endpoint is expected to wait for others. While no endpoint has been made: 0, or without end for
   * too many, of which a media server may make none before its timeouts.
   */
  get waitMs(): number {
    if (this.#places === 0) return this.#length < MANY ? 0 : Number.POSITIVE_INFINITY;
    return ((this.#length + 1 + ENDPOINTS * this.coming()) * this.#milliseconds) / this.#places;
  }

  /** True while no endpoint is being made. */
  get empty(): boolean {
    return this.#length === 0;
  }

  /** During overload, the number of calls that may come now: those that would be set up in time. Otherwise undefined: any. */
  get room(): number | undefined {
    if (!this.#overloaded || this.#length < FEW) return undefined;
    const most = Math.floor((OVERLOADED_MS * this.#places) / this.#milliseconds);
    return Math.max(0, Math.ceil((most - this.#length) / ENDPOINTS));
  }

  /** True when a further call would be set up too late. */
  refuses(): boolean {
    if (this.#length < FEW) return false;
    const queued = this.#standing || this.#length >= MANY;
    if (!this.#overloaded && queued && this.waitMs > MOST_MS) this.#overloaded = true;
    return this.#overloaded && this.waitMs > OVERLOADED_MS;
  }

  #made(milliseconds: number, place: number): void {
    if (place === 1) this.#aloneMs = Math.min(milliseconds, this.#aloneMs * DRIFT);
    const waited = Math.max(0, milliseconds - this.#aloneMs);
    const now = this.#now();
    this.#slowSince = waited > SLOW_MS ? (this.#slowSince ?? now) : undefined;
    this.#standing = this.#slowSince !== undefined && now - this.#slowSince >= STANDING_MS;
    this.#milliseconds = this.#milliseconds * MEMORY + waited;
    this.#places = this.#places * MEMORY + place;
  }

  /** An empty queue ends an overload, and what was measured in it says nothing about the next calls. */
  #drained(): void {
    this.#slowSince = undefined;
    this.#standing = false;
    this.#overloaded = false;
    this.#milliseconds = 0;
    this.#places = 0;
  }
}
