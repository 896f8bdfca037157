/** Share of all processors from which on scripts may soon use them all. */
const MUCH = 0.7;
/** Share of those that would be left to them from which on scripts are among the reasons why none is idle. */
const SOME = 0.5;
/** Share of all processors that is idle when there is nothing left. */
const FULL = 0.1;
/** Share of those that are left to them below which they do not need the others. */
const LITTLE = 0.3;
/** Looks in a row at which that is so. */
const LOOKS = 20;

/** Notices that scripts are about to use every processor there is, alone or beside others. */
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
   * @param idle processors that had nothing to do meanwhile
   * @returns whether scripts are to leave one
   */
  look(used: number, idle: number): boolean {
    const left = this.#processors - 1;
    if (this.#saturated) {
      this.#calm = used < left * LITTLE ? this.#calm + 1 : 0;
      this.#saturated = this.#calm < LOOKS;
    } else {
      const isFull = idle < this.#processors * FULL && used > left * SOME;
      this.#saturated = used > this.#processors * MUCH || isFull;
      this.#calm = 0;
    }
    return this.#saturated;
  }
}
