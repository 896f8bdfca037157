/** Share of all processors from which on scripts may soon use them all. */
const MUCH = 0.7;
/** Share of those that are left to them below which they do not need the others. */
const LITTLE = 0.5;
/** Looks in a row at which that is so. */
const LOOKS = 8;

/** Notices that scripts are about to use every processor there is. */
export class Saturation {
  readonly #processors: number;
  #saturated = false;
  #calm = 0;

  /** @param processors how many there are, two at least */
  constructor(processors: number) {
    this.#processors = processors;
  }

  /**
   * @param used processors that scripts have kept busy since the last look, e.g. 1.5
   * @returns whether they are to leave one
   */
  look(used: number): boolean {
    if (!this.#saturated) {
      this.#saturated = used > this.#processors * MUCH;
      this.#calm = 0;
      return this.#saturated;
    }
    this.#calm = used < (this.#processors - 1) * LITTLE ? this.#calm + 1 : 0;
    if (this.#calm >= LOOKS) this.#saturated = false;
    return this.#saturated;
  }
}
