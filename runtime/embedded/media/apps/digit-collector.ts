/** Collects the digits of one input. */
import { FRAME_MS } from '../audio/format.ts';

/** Rules of one input: number of digits, timeouts, terminators. */
export interface CollectRules {
  readonly min: number;
  readonly max: number;
  /** Milliseconds until the first digit. */
  readonly firstDigitMs: number;
  /** Milliseconds between digits. */
  readonly nextDigitMs: number;
  /** Digits that end the input and are not part of it; empty for none. */
  readonly terminators: string;
}

/**
 * `read_result`: `success` at the most digits or a terminator, `timeout` with enough digits, `failure` with too few.
 */
export type CollectResult = 'success' | 'timeout' | 'failure';

/** Collects the digits of one try: a state machine of digits and frames, without clock or channel. */
export class DigitCollector {
  readonly #rules: CollectRules;
  #digits = '';
  #terminator: string | undefined;
  #result: CollectResult | undefined;
  #waiting = false;
  #frames = 0;

  constructor(rules: CollectRules) {
    this.#rules = { ...rules, max: Math.max(rules.max, rules.min) };
  }

  get digits(): string {
    return this.#digits;
  }

  get terminator(): string | undefined {
    return this.#terminator;
  }

  /** Undefined until the input has ended. */
  get result(): CollectResult | undefined {
    return this.#result;
  }

  /** Starts the timeouts, at the end of the prompt or when it was interrupted. */
  startWaiting(): void {
    this.#waiting = true;
    this.#frames = 0;
    if (this.#digits.length >= this.#rules.max) this.#end('success');
  }

  digit(digit: string): void {
    if (this.#result !== undefined) return;
    this.#frames = 0;
    if (this.#rules.terminators.includes(digit)) {
      this.#terminator = digit;
      this.#end('success');
      return;
    }
    this.#digits += digit;
    if (this.#digits.length >= this.#rules.max) this.#end('success');
  }

  /** One frame of time has passed. */
  tick(): void {
    if (!this.#waiting || this.#result !== undefined) return;
    this.#frames += 1;
    const limit = this.#digits === '' ? this.#rules.firstDigitMs : this.#rules.nextDigitMs;
    if (this.#frames * FRAME_MS >= limit) this.#end('timeout');
  }

  #end(result: CollectResult): void {
    this.#result = this.#rules.min > 0 && this.#digits.length < this.#rules.min ? 'failure' : result;
  }
}
