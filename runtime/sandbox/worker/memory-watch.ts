/** Limits the memory of scripts. */
import process from 'node:process';

/** A running activation. */
export interface Watched {
  readonly memoryMb: number;
  /** True when V8 has ended the isolate. */
  readonly isGone: boolean;
  /** Called once, when it has used too much. */
  exceededMemory(): void;
}

/** Milliseconds between checks: a script at full speed takes some 10 MB in that time. */
const PERIOD_MS = 20;
const MB = 1_048_576;
/**
 * Milliseconds for which a measurement is reused as the size before an activation: measuring takes longer than a short
 * activation.
 */
const FRESH_MS = 500;

/** Permitted growth during one activation: V8 lets an isolate briefly exceed its limit several times. */
function allowance(memoryMb: number): number {
  return (3 * memoryMb + 64) * MB;
}

/**
 * Watches the memory of the process during activations, because V8's own limit is soft and ignores some kinds of
 * memory. Growth beyond the limits of the other activations is attributed to the one running longest.
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
   * @param ceilingMb limit of the process in megabytes
   * @param overweight called when it uses more
   * @param rss returns the resident memory of the process in bytes
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

  /** Growth of the process attributed to this activation at the last check, in bytes. */
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
      // Stopped lazily, because most activations are shorter than the period.
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

  /** Permitted growth until the end of the activation. */
  #allowed(watched: Watched): number {
    let others = 0;
    for (const { memoryMb } of this.#active.keys()) others += memoryMb * MB;
    return allowance(watched.memoryMb) + others - watched.memoryMb * MB;
  }
}
