/** Frames above the level until somebody counts as talking. */
const START_FRAMES = 3;

/** Frames below it until he does not any more (the `hangover` of the real server's members). */
const STOP_FRAMES = 40;

/** Decides from the energy of frames whether a member talks. */
export class TalkDetector {
  #talking = false;
  #frames = 0;

  get talking(): boolean {
    return this.#talking;
  }

  /**
   * Takes the energy of one frame.
   *
   * @returns `started` or `stopped` when that changed
   */
  frame(energy: number, level: number): 'started' | 'stopped' | undefined {
    const against = energy >= level !== this.#talking;
    this.#frames = against ? this.#frames + 1 : 0;
    if (this.#frames < (this.#talking ? STOP_FRAMES : START_FRAMES)) return undefined;
    this.#frames = 0;
    this.#talking = !this.#talking;
    return this.#talking ? 'started' : 'stopped';
  }

  /** Muted: nobody talks until it is heard again. */
  reset(): void {
    this.#talking = false;
    this.#frames = 0;
  }
}
