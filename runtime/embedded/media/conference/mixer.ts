/** Mixes the voices of a conference. */
import { FRAME_SAMPLES, frameSamples, type Rate } from '../audio/format.ts';
import type { Limiter } from './limiter.ts';

/** The part of a member that the mixer uses. */
export interface MixedMember {
  readonly id: number;
  /** The member's audio of this frame; undefined for silence. */
  readonly input: Int16Array | undefined;
  /** A sound that only this member hears. */
  readonly sound: Int16Array | undefined;
  readonly output: Int16Array;
  readonly deaf: boolean;
  /** On hold: the member hears only its own sound. */
  readonly held?: boolean;
  readonly limiter: Limiter;
}

/** Relations that keep members from hearing others. */
export interface MixRelations {
  readonly empty: boolean;
  blocks(listener: number, speaker: number): boolean;
}

/** Mixes one frame of a conference: each member hears all others. */
export class Mixer {
  #all = new Int32Array(FRAME_SAMPLES);
  #own = new Int32Array(FRAME_SAMPLES);

  /** Mixes frames of another rate from now on. */
  setRate(rate: Rate): void {
    this.#all = new Int32Array(frameSamples(rate));
    this.#own = new Int32Array(frameSamples(rate));
  }

  /** The sum of all voices and the common sound of the last frame, before the limiter: for recordings. */
  get sum(): Int32Array {
    return this.#all;
  }

  /**
   * Fills every member's output. All frames are of the mixer's rate.
   *
   * @param common a sound that all hear
   */
  mix(members: readonly MixedMember[], relations: MixRelations, common: Int16Array | undefined): void {
    const all = this.#all.fill(0);
    if (common !== undefined) add(all, common);
    for (const { input } of members) if (input !== undefined) add(all, input);
    for (const member of members) {
      const sum = this.#own;
      if (member.deaf || member.held === true) sum.fill(0);
      else {
        sum.set(all);
        if (member.input !== undefined) subtract(sum, member.input);
        if (!relations.empty) this.#leaveOut(sum, member, members, relations);
      }
      if (member.sound !== undefined) add(sum, member.sound);
      member.limiter.apply(sum, member.output);
    }
  }

  #leaveOut(sum: Int32Array, listener: MixedMember, members: readonly MixedMember[], relations: MixRelations): void {
    for (const speaker of members) {
      if (speaker === listener || speaker.input === undefined) continue;
      if (relations.blocks(listener.id, speaker.id)) subtract(sum, speaker.input);
    }
  }
}

function add(sum: Int32Array, frame: Int16Array): void {
  for (let index = 0; index < frame.length; index += 1) sum[index] = (sum[index] as number) + (frame[index] as number);
}

function subtract(sum: Int32Array, frame: Int16Array): void {
  for (let index = 0; index < frame.length; index += 1) sum[index] = (sum[index] as number) - (frame[index] as number);
}
