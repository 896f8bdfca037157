/** The drain of a node before its end: no new calls, while the live ones go on for a limited time. */

/** What still keeps a draining node up. */
export interface Left {
  /** Live dialogs. */
  readonly calls: number;
  /** Runs of scenarios and operations that have, or had, a call. */
  readonly runs: number;
}

/** A drain in progress. */
export interface DrainState extends Left {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** When the remaining calls are ended, milliseconds since the epoch. */
  readonly until: number;
}

/** Milliseconds between two looks at what is left. */
const LOOK_MS = 200;
/** Retry-After of refused calls, in seconds: callers go elsewhere meanwhile, and soon find a node that was only restarted. */
const RETRY_S = 30;

const REFUSAL = { reason: 'the node is draining and takes no new calls', retryAfterSeconds: RETRY_S };

/** Refuses new calls, and reports when the live ones are over, or the time is. */
export class Drain {
  readonly #left: () => Left;
  readonly #over: () => void;
  #times: { readonly since: number; readonly until: number; readonly deadline: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param left called often: it must be cheap
   * @param over called once, unless the drain is cancelled: when nothing is left, or the time is over
   */
  constructor(left: () => Left, over: () => void) {
    this.#left = left;
    this.#over = over;
  }

  /** Undefined unless the node drains. */
  get state(): DrainState | undefined {
    if (this.#times === undefined) return undefined;
    const { since, until } = this.#times;
    return { since, until, ...this.#left() };
  }

  /** The refusal of a new call; undefined: it is accepted. */
  get refusal(): typeof REFUSAL | undefined {
    return this.#times && REFUSAL;
  }

  /**
   * Begins a drain; gives one in progress another limit, from now on.
   * @param limitMs time for the live calls to end, in milliseconds
   */
  begin(limitMs: number): void {
    const now = Date.now();
    // The clock of the machine may be set meanwhile.
    const deadline = performance.now() + limitMs;
    this.#times = { since: this.#times?.since ?? now, until: now + limitMs, deadline };
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
  }

  /** Accepts calls again. @returns false when the node does not drain */
  cancel(): boolean {
    const draining = this.#times !== undefined;
    this.#times = undefined;
    this.close();
    return draining;
  }

  /** Stops looking; new calls stay refused. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const { calls, runs } = this.#left();
    const late = this.#times !== undefined && performance.now() >= this.#times.deadline;
    if (calls + runs > 0 && !late) return;
    this.close();
    this.#over();
  }
}
