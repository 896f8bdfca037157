import { WaitError } from '../wait.ts';
import { KeyEar } from './keypad.ts';
import { amplitudeAt, hasTone, level, SAMPLE_RATE, strongest } from './tone.ts';

/** 160 ms: distinguishes tones 10 Hz apart, and answers quickly. */
const WINDOW_MS = 160;

interface Expectation {
  check(window: Int16Array): boolean;
  /** Samples until the window contains no sound from before the question. */
  missing: number;
  settle(heard: boolean): void;
}

/** The ear of the phone: keeps the last 160 ms of audio and answers questions about the following sound. */
export class Listener {
  #rate = SAMPLE_RATE;
  #window = new Int16Array((SAMPLE_RATE * WINDOW_MS) / 1000);
  #total = 0;
  readonly #expectations = new Set<Expectation>();
  readonly #ears = new Set<{ hear(samples: Int16Array): void }>();

  /** Samples a second from now on. */
  setRate(rate: number): void {
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#window = new Int16Array((rate * WINDOW_MS) / 1000);
    for (const expectation of this.#expectations) expectation.missing = this.#window.length;
  }

  hear(samples: Int16Array): void {
    const next = new Int16Array(this.#window.length);
    next.set(this.#window.subarray(samples.length));
    next.set(samples, next.length - samples.length);
    this.#window = next;
    this.#total += samples.length;
    for (const ear of this.#ears) ear.hear(samples);
    for (const expectation of this.#expectations) {
      expectation.missing -= samples.length;
      if (expectation.missing <= 0 && expectation.check(this.#window)) expectation.settle(true);
    }
  }

  /** @throws WaitError when the tone is not heard, from now on, within `withinMs` */
  async tone(frequency: number, withinMs: number): Promise<void> {
    const before = this.#total;
    if (await this.#within((window) => hasTone(window, frequency, this.#rate), withinMs)) return;
    throw new WaitError(
      `${frequency} Hz not heard within ${withinMs} ms; ${this.#total - before} samples came, ${this.#heard()}`,
    );
  }

  /** @throws WaitError when these keys are not heard as tones, from now on, within `withinMs` */
  async keys(expected: string, withinMs: number): Promise<void> {
    const ear = new KeyEar();
    this.#ears.add(ear);
    const heard = await this.#within(() => ear.keys === expected, withinMs);
    this.#ears.delete(ear);
    if (!heard) throw new WaitError(`keys "${expected}" not heard within ${withinMs} ms, but "${ear.keys}"`);
  }

  /** Which of these tones are heard, each at least as loud as `amplitude`, in the next 160 ms. */
  async tones(frequencies: readonly number[], withinMs: number, amplitude = 400): Promise<number[]> {
    let heard: number[] = [];
    const listened = await this.#within((window) => {
      heard = frequencies.filter((frequency) => amplitudeAt(window, frequency, this.#rate) >= amplitude);
      return true;
    }, withinMs);
    if (!listened) throw new WaitError(`no 160 ms of sound came within ${withinMs} ms`);
    return heard;
  }

  /** The next samples, at the present rate. @throws WaitError when they do not come within `withinMs` */
  async next(count: number, withinMs: number): Promise<Int16Array> {
    const heard = new Int16Array(count);
    let at = 0;
    const ear = {
      hear: (samples: Int16Array): void => {
        heard.set(samples.subarray(0, count - at), at);
        at = Math.min(count, at + samples.length);
      },
    };
    this.#ears.add(ear);
    const came = await this.#within(() => at === count, withinMs);
    this.#ears.delete(ear);
    if (!came) throw new WaitError(`${at} of ${count} samples came within ${withinMs} ms`);
    return heard;
  }

  /** @throws WaitError when nothing audible comes within `withinMs` */
  async sound(withinMs: number): Promise<void> {
    if (await this.#within((window) => level(window) >= 1000, withinMs)) return;
    throw new WaitError(`nothing audible within ${withinMs} ms; ${this.#heard()}`);
  }

  /** @throws WaitError when the tone is heard at any moment of the next `forMs` */
  async noTone(frequency: number, forMs: number): Promise<void> {
    if (await this.#within((window) => hasTone(window, frequency, this.#rate), forMs)) {
      throw new WaitError(`${frequency} Hz is heard, though it should not be`);
    }
  }

  #heard(): string {
    const best = strongest(this.#window, this.#rate);
    return best === undefined
      ? 'the last of them silence'
      : `the strongest tone being ${best.frequency} Hz (${Math.round(best.share * 100)} %)`;
  }

  async #within(check: (window: Int16Array) => boolean, milliseconds: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const expectation = { check, missing: this.#window.length, settle: resolve };
    this.#expectations.add(expectation);
    const timer = setTimeout(() => resolve(false), milliseconds);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#expectations.delete(expectation);
    }
  }
}
