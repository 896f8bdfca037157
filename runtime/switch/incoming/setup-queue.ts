/** Foretells the set-up time of a call from the endpoints that media servers are making. */
import { WaitForecast } from './wait-forecast.ts';

/** Of a call between phones. */
const ENDPOINTS = 2;
/** The answer takes half as long again as the next endpoint. */
const BOUNDS = { ofCall: ENDPOINTS, few: 10, many: 200, mostMs: 650, overloadedMs: 150 };

/**
 * The endpoints that media servers are making: one or two for each new call. They are slow when a media server, or the SIP server that
 * calls it, has too much to do.
 */
export class SetupQueue {
  readonly #now: () => number;
  readonly #forecast: WaitForecast;
  #length = 0;

  /** Calls on their way here, which make endpoints soon. */
  coming: () => number = () => 0;
  /** The queue has changed, and with it perhaps `room`. */
  onChange: () => void = () => undefined;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#forecast = new WaitForecast(BOUNDS, now);
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
      if (made) this.#forecast.left(this.#now() - began, place);
      if (--this.#length === 0) this.#forecast.drained();
      this.onChange();
    };
  }

  /** Milliseconds that the next endpoint is expected to wait for others. */
  get waitMs(): number {
    return this.#forecast.waitMs(this.#length, ENDPOINTS * this.coming());
  }

  /** True while no endpoint is being made. */
  get empty(): boolean {
    return this.#length === 0;
  }

  /** During overload, the number of calls that may come now: those that would be set up in time. Otherwise undefined: any. */
  get room(): number | undefined {
    return this.#forecast.room(this.#length);
  }

  /** True when a further call would be set up too late. */
  refuses(): boolean {
    return this.#forecast.refuses(this.#length, ENDPOINTS * this.coming());
  }
}
