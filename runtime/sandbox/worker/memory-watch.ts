import process from 'node:process';

/** Something that runs and may take memory. */
export interface Watched {
  readonly memoryMb: number;
  /** V8 ended the isolate by itself. */
  readonly isGone: boolean;
  /** Called once, when it has taken too much. */
  exceededMemory(): void;
}

/** Milliseconds between two looks: at full speed a script takes some 10 MB in that time. */
const PERIOD_MS = 20;
const MB = 1_048_576;
/** Milliseconds for which a look holds as the size of the process before an activation: a look takes longer than a short one. */
const FRESH_MS = 500;

/** How far the process may grow by one activation: V8 lets an isolate use a multiple of its limit for a moment. */
function allowance(memoryMb: number): number {
  return (3 * memoryMb + 64) * MB;
}

/**
 * Watches the memory of the process while scripts run, because V8's own limit is soft and knows nothing of some kinds of
 * memory. What the process grows by, beyond what the limits of the others allow them, is laid at the door of the activation that
 * runs longest.
 */
export class MemoryWatch {
  readonly #ceiling: number;
  readonly #overweight: () => void;
  readonly #measureRss: () => number;
  readonly #active = new Map<Watched, number>();
  #timer: NodeJS.Timeout | undefined;
  #rss = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param ceilingMb megabytes the process may use
   * @param overweight called when it uses more
   * @param rss resident memory of the process, in bytes
   */
  constructor(ceilingMb: number, overweight: () => void, rss: () => number = () => process.memoryUsage.rss()) {
    this.#ceiling = ceilingMb * MB;
    this.#overweight = overweight;
    this.#measureRss = rss;
  }

  begin(watched: Watched): void {
    if (performance.now() - this.#lookedAt > FRESH_MS) this.#measure();
    this.#active.set(watched, this.#rss);
    this.#timer ??= setInterval(() => this.look(), PERIOD_MS);
  }

  end(watched: Watched): void {
    this.#active.delete(watched);
  }

  /** Bytes by which the process had grown at the last look, if that is laid at the door of this activation; none else. */
  grownBy(watched: Watched): number {
    const [longest] = this.#active;
    return longest?.[0] === watched ? Math.max(0, this.#rss - longest[1]) : 0;
  }

  #measure(): number {
    this.#rss = this.#measureRss();
    this.#lookedAt = performance.now();
    return this.#rss;
  }

  look(): void {
    if (this.#active.size === 0) {
      // Stopped late, for most activations are shorter than the period.
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const rss = this.#measure();
    if (rss > this.#ceiling) return this.#overweight();
    for (const watched of this.#active.keys()) if (watched.isGone) watched.exceededMemory();
    const [longest] = this.#active;
    if (longest && rss - longest[1] > this.#allowed(longest[0])) longest[0].exceededMemory();
  }

  /** How far the process may grow by the time that the activation is over. */
  #allowed(watched: Watched): number {
    let others = 0;
    for (const { memoryMb } of this.#active.keys()) others += memoryMb * MB;
    return allowance(watched.memoryMb) + others - watched.memoryMb * MB;
  }
}
