/** The delay of the event loop as a histogram of Prometheus. Node counts it natively; it is read with each scrape. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Histogram, type Registry } from 'prom-client';
import { DELAY } from './buckets.ts';

const NAME = 'ringmaster_event_loop_delay_seconds';
const HELP = 'Seconds by which timers of the main thread came late';
/** Milliseconds between two measurements. */
const RESOLUTION = 20;
/** Halvings of the search for a share: exact up to sixteen million measurements. */
const STEPS = 24;

/** The part of Node's histogram that is read; nanoseconds. */
export interface Intervals {
  readonly count: number;
  readonly mean: number;
  /** @param percent more than 0, up to 100 */
  percentile(percent: number): number;
}

/** Number of intervals of at most `bound` nanoseconds; Node keeps three figures of each. */
export function countUpTo(intervals: Intervals, bound: number): number {
  if (intervals.count === 0) return 0;
  if (intervals.percentile(100) <= bound) return intervals.count;
  let low = 0;
  let high = 100;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (intervals.percentile(middle) <= bound) low = middle;
    else high = middle;
  }
  return Math.round((low / 100) * intervals.count);
}

/** Adds `ringmaster_event_loop_delay_seconds`, and measures from now on. */
export function measureEventLoopDelay(registry: Registry): void {
  registry.registerMetric(new EventLoopDelay());
}

class EventLoopDelay extends Histogram {
  readonly #intervals = monitorEventLoopDelay({ resolution: RESOLUTION });
  readonly #counts = DELAY.map(() => 0);
  #count = 0;
  #sum = 0;

  constructor() {
    super({ name: NAME, help: HELP, buckets: DELAY, registers: [] });
    this.#intervals.enable();
  }

  /** prom-client calls it for the text of a histogram. Here Node has counted already, so it replaces the observations. */
  async getForPromString() {
    this.#take();
    const buckets = [
      ...DELAY.map((le, at) => ({ le, value: this.#counts[at] ?? 0 })),
      { le: '+Inf', value: this.#count },
    ];
    return {
      name: NAME,
      help: HELP,
      type: 'histogram',
      values: [
        ...buckets.map(({ le, value }) => ({ metricName: `${NAME}_bucket`, labels: { le }, value })),
        { metricName: `${NAME}_sum`, labels: {}, value: this.#sum },
        { metricName: `${NAME}_count`, labels: {}, value: this.#count },
      ],
    };
  }

  #take(): void {
    const { count, mean } = this.#intervals;
    if (count === 0) return;
    DELAY.forEach((bound, at) => {
      this.#counts[at] = (this.#counts[at] ?? 0) + countUpTo(this.#intervals, (bound + RESOLUTION / 1000) * 1e9);
    });
    this.#count += count;
    this.#sum += Math.max(0, mean / 1e9 - RESOLUTION / 1000) * count;
    this.#intervals.reset();
  }
}
