/** Foretells how long new calls wait between the SIP server and the main thread. */
import { WaitForecast } from './wait-forecast.ts';

/** Until its answer a call waits there at least twice, as its INVITE does. Sixty wait at once only for a main thread that stands still. */
const BOUNDS = { ofCall: 1, few: 20, many: 60, mostMs: 200, overloadedMs: 60 };
/** Milliseconds that a call has waited above which it would be set up too late. */
const LATE_MS = 400;
/** Milliseconds below which nothing else is on its way. */
const AT_ONCE_MS = 10;

/**
 * The calls that an embedded SIP server has passed on and the main thread has not taken. They wait when the main thread has too much to
 * do, which endpoints show late: those of an embedded media server are made before what waits.
 *
 * In an overload the SIP server refuses what has no room. Calls that are on their way are taken unless they are late, because a refusal
 * would be late, too.
 */
export class ArrivalQueue {
  readonly #coming: () => number;
  readonly #forecast: WaitForecast;
  #waitedMs = 0;

  /**
   * @param coming length of the queue
   * @param now milliseconds of a clock that never goes back
   */
  constructor(coming: () => number, now: () => number = () => performance.now()) {
    this.#coming = coming;
    this.#forecast = new WaitForecast(BOUNDS, now);
  }

  /** A call has come. @param waitedMs milliseconds since the SIP server received it */
  came(waitedMs: number): void {
    const after = this.#coming();
    this.#waitedMs = waitedMs;
    this.#forecast.left(waitedMs, after + 1);
    if (after === 0) this.#forecast.drained();
  }

  /** No call is on its way. */
  drained(): void {
    this.#waitedMs = 0;
    this.#forecast.drained();
  }

  /** Whether the latest call came at once, so that no other was before it. */
  get flows(): boolean {
    return this.#waitedMs < AT_ONCE_MS;
  }

  /** During overload, the number of calls that may be on their way. Otherwise undefined: any. */
  get room(): number | undefined {
    const coming = this.#coming();
    if (!this.#forecast.overloaded(coming)) return undefined;
    return coming + (this.#forecast.room(coming) ?? 0);
  }

  /** True when the call that came last would be set up too late. */
  refuses(): boolean {
    return this.#waitedMs > LATE_MS && this.#forecast.overloaded(this.#coming());
  }
}
