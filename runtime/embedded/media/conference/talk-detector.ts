/** Detects talking members. */

/** Frames without voice until talking has stopped (FreeSWITCH's `hangover`). */
const STOP_FRAMES = 40;

/** Frames with a weak voice until talking has started (FreeSWITCH's `hangunder`). */
const START_FRAMES = 5;

/** A single frame this far above the member's level starts talking. */
const LOUD_ABOVE = 400;

/** Weight of the previous score in the running mean of the energy, which decides about the floor. */
const SCORE_DECAY = 0.8;
const MAX_SCORE = 25_000;

/** Figures of a stretch of talking, for `stop-talking`. All counts are in frames. */
export interface TalkFigures {
  readonly frames: number;
  readonly loudFrames: number;
  readonly averageEnergy: number;
  readonly averageChange: number;
  /** Frames above and below the level since talking started after the last stop. */
  readonly above: number;
  readonly below: number;
}

/** Decides from the energy of frames whether a member is talking, like mod_conference. */
export class TalkDetector {
  #talking = false;
  #below = 0;
  #above = 0;
  #score = 0;
  #lastEnergy = 0;
  #energySum = 0;
  #changeSum = 0;
  #loudFrames = 0;
  #frames = 0;
  #gateOpen = 0;
  #gateClosed = 0;
  #figures: TalkFigures | undefined;

  get talking(): boolean {
    return this.#talking;
  }

  /** Running mean of the energy. The member with the highest score may take the floor. */
  get score(): number {
    return this.#score;
  }

  /** Figures of the stretch that has just stopped; undefined when its energy never changed. */
  get figures(): TalkFigures | undefined {
    return this.#figures;
  }

  /**
   * Takes the energy of one frame.
   *
   * @param energy energy of the frame; undefined without audio
   * @param level energy above which a frame counts as voice
   * @returns `started` or `stopped` when the state changed
   */
  frame(energy: number | undefined, level: number): 'started' | 'stopped' | undefined {
    if (energy === undefined) return this.#quiet(true);
    this.#score = Math.min(MAX_SCORE, Math.trunc((1 - SCORE_DECAY) * energy + SCORE_DECAY * this.#score));
    const voice = energy > level;
    if (this.#talking) this.#measure(energy, voice);
    this.#lastEnergy = energy;
    return voice ? this.#voice(energy - level) : this.#quiet(false);
  }

  /** Resets the detection of a member that is muted or put on hold. */
  reset(): void {
    this.#talking = false;
    this.#score = 0;
  }

  /** Restarts the score of a member that got the floor. */
  resetScore(): void {
    this.#score = 0;
  }

  /** Ends talking when a relation mutes the member (`relate ... nospeak`); further speech starts it again. */
  stop(): void {
    this.#talking = false;
  }

  #voice(above: number): 'started' | undefined {
    if (this.#below > 0) this.#below -= 1;
    if (above < LOUD_ABOVE) {
      this.#above += 1;
      if (this.#above < START_FRAMES) return undefined;
    }
    this.#below = 0;
    this.#above = 0;
    if (this.#talking) return undefined;
    this.#talking = true;
    this.#energySum = 0;
    this.#changeSum = 0;
    this.#loudFrames = 0;
    this.#frames = 0;
    return 'started';
  }

  #quiet(noAudio: boolean): 'stopped' | undefined {
    if (this.#above > 0) this.#above -= 1;
    if (!this.#talking) return undefined;
    this.#below += 1;
    if (this.#below < STOP_FRAMES) return undefined;
    this.#below = 0;
    this.#above = 0;
    this.#talking = false;
    if (noAudio) this.#score = 0;
    this.#gateClosed = Math.max(0, this.#gateClosed - STOP_FRAMES);
    this.#figures = this.#conclude();
    return 'stopped';
  }

  #measure(energy: number, voice: boolean): void {
    this.#frames += 1;
    if (!voice) {
      this.#gateClosed += 1;
      return;
    }
    this.#energySum += energy;
    this.#changeSum += Math.abs(energy - this.#lastEnergy);
    this.#loudFrames += 1;
    this.#gateOpen += 1;
  }

  #conclude(): TalkFigures | undefined {
    const [above, below] = [Math.max(1, this.#gateOpen), Math.max(1, this.#gateClosed)];
    this.#gateOpen = 0;
    this.#gateClosed = 0;
    if (this.#loudFrames === 0 || this.#changeSum === 0) return undefined;
    return {
      frames: this.#frames,
      loudFrames: this.#loudFrames,
      averageEnergy: this.#energySum / this.#loudFrames,
      averageChange: this.#changeSum / this.#loudFrames,
      above,
      below,
    };
  }
}
