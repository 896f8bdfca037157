/** Samples sent once, packet by packet; silence afterwards. */
export class SampleSource {
  readonly over: Promise<void>;
  readonly #samples: Int16Array;
  readonly #done: () => void;
  #at = 0;

  /** @param samples linear, at the rate of the codec */
  constructor(samples: Int16Array) {
    this.#samples = samples;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#done = resolve;
  }

  next(count: number): Int16Array {
    const out = new Int16Array(count);
    out.set(this.#samples.subarray(this.#at, this.#at + count));
    this.#at += count;
    if (this.#at >= this.#samples.length) this.#done();
    return out;
  }
}
