/** The drain of a node before its end: no new calls, while the live ones go on for a limited time. */
import type { Logger } from 'pino';

/** What keeps a draining node up. */
export interface Left {
  /** Live dialogs. */
  readonly calls: number;
  /** Runs of scenarios and operations that have, or had, a call. */
  readonly runs: number;
}

/** Times in milliseconds since the epoch. */
interface Times {
  readonly since: number;
  /** When the remaining calls are ended. */
  readonly until: number;
}

/** `ending`: the drain is over, with what was left then. */
export type DrainState = Left &
  ({ readonly state: 'accepting' } | ({ readonly state: 'draining' } & Times) | ({ readonly state: 'ending' } & Times));

/** Milliseconds between two looks at what is left. */
const LOOK_MS = 200;
/** Retry-After of refused calls, in seconds: callers go elsewhere meanwhile, and soon find a node that was only restarted. */
const RETRY_S = 30;

const REFUSAL = { reason: 'the node is draining and takes no new calls', retryAfterSeconds: RETRY_S };

export interface DrainOptions {
  /** Called often: it must be cheap. */
  readonly left: () => Left;
  /** Time of a drain without one, in milliseconds. */
  readonly defaultMs: number;
  readonly log: Logger;
}

/** Refuses new calls, and reports when the live ones are over, or the time is. */
export class Drain {
  readonly #options: DrainOptions;
  readonly #over = Promise.withResolvers<void>();
  readonly #waiting = new Set<() => void>();
  readonly #watchers: (() => void)[] = [];
  #times: (Times & { readonly deadline: number }) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What was left at the end of the drain. */
  #atEnd: Left | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  get state(): DrainState {
    const left = this.#atEnd ?? this.#options.left();
    if (this.#times === undefined) return { state: 'accepting', ...left };
    const { since, until } = this.#times;
    return { state: this.#atEnd === undefined ? 'draining' : 'ending', ...left, since, until };
  }

  /** The refusal of a new call; undefined: it is accepted. */
  get refusal(): typeof REFUSAL | undefined {
    return this.#times && REFUSAL;
  }

  /** Calls back at the begin and at the cancellation of a drain. */
  onChange(watcher: () => void): void {
    this.#watchers.push(watcher);
  }

  /** Settles when a drain is over: nothing is left, or the time is over. Never for one that is cancelled. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /**
   * Begins a drain; gives one in progress another limit, from now on.
   * @param limitMs time for the live calls to end, in milliseconds
   */
  begin(limitMs: number = this.#options.defaultMs): void {
    if (this.#atEnd !== undefined) return;
    const now = Date.now();
    // The clock of the machine may be set meanwhile.
    const deadline = performance.now() + limitMs;
    this.#times = { since: this.#times?.since ?? now, until: now + limitMs, deadline };
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
    this.#options.log.info(this.state, 'draining: new calls are refused');
    for (const watcher of this.#watchers) watcher();
  }

  /** Accepts calls again. @returns false when there is no drain in progress */
  cancel(): boolean {
    if (this.#times === undefined || this.#atEnd !== undefined) return false;
    this.#times = undefined;
    this.#stopLooking();
    this.#options.log.info('drain cancelled: calls are accepted');
    for (const watcher of this.#watchers) watcher();
    return true;
  }

  /** Settles when the node does not drain any more, at the latest after the given milliseconds. */
  async ended(withinMs: number): Promise<void> {
    if (this.#timer === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const late = setTimeout(resolve, withinMs);
    await promise;
    clearTimeout(late);
    this.#waiting.delete(resolve);
  }

  /** The node ends: new calls stay refused. */
  close(): void {
    if (this.#times !== undefined) this.#atEnd ??= this.#options.left();
    this.#stopLooking();
  }

  #look(): void {
    const { calls, runs } = this.#options.left();
    const late = this.#times !== undefined && performance.now() >= this.#times.deadline;
    if (calls + runs > 0 && !late) return;
    this.close();
    this.#options.log.info(this.state, 'drained: the node ends');
    this.#over.resolve();
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const settle of this.#waiting) settle();
  }
}
