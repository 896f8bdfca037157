/** The sounds played to a conference. */
import type { Rate } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { type SoundLibrary, SoundNotFoundError } from '../audio/sound-library.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { ConferenceEvents, Member } from './member.ts';
import { type SoundFigures, SoundQueue } from './sound-queue.ts';

/** The sounds that `stop` ends. */
export type StopWhich = 'current' | 'all' | 'async';

/** The part of a conference that its sounds use. */
export interface SoundedConference extends ConferenceEvents {
  /** Samples a second of the mix. */
  readonly rate: Rate;
}

/** The sounds for all members of a conference: a queue, and one sound beside it (`async`). */
export class ConferenceSounds {
  readonly #library: SoundLibrary;
  readonly #events: SoundedConference;
  readonly #queue: SoundQueue;
  readonly #beside: SoundQueue;
  #mixed = new Int16Array(0);

  /** @param library opens sounds by name */
  constructor(library: SoundLibrary, events: SoundedConference) {
    this.#library = library;
    this.#events = events;
    this.#queue = new SoundQueue(({ file }, figures) => this.#done(file, figures, {}));
    this.#beside = new SoundQueue(({ file }, figures) => this.#done(file, figures, { Async: 'true' }));
  }

  /**
   * Plays a sound to all.
   *
   * @param beside whether to play it at once as the `async` sound, instead of appending it to the queue
   * @returns false when the sound does not exist
   */
  async play(file: string, beside: boolean): Promise<boolean> {
    const async = String(beside);
    try {
      const sound = { file, source: await this.#library.open(file, this.#events.rate) };
      if (beside) this.#beside.stop(true);
      (beside ? this.#beside : this.#queue).add(sound);
      this.#events.publish('play-file', undefined, { File: file, Async: async });
      return true;
    } catch (error) {
      if (!(error instanceof SoundNotFoundError)) throw error;
      const told = { File: file, Async: async, Error: 'File could not be played' };
      if (file.includes('/')) this.#events.publish('play-file', undefined, told);
      return false;
    }
  }

  get playing(): boolean {
    return this.#queue.length + this.#beside.length > 0;
  }

  /** Plays a sound to one member only. Returns false when the sound does not exist. */
  async playTo(member: Member, file: string): Promise<boolean> {
    try {
      member.sounds.add({ file, source: await this.#library.open(file, this.#events.rate) });
    } catch (error) {
      if (!(error instanceof SoundNotFoundError)) throw error;
      return false;
    }
    this.#events.publish('play-file-member', member, { File: file });
    return true;
  }

  /** Drops sounds; returns their number. */
  stop(which: StopWhich): number {
    const beside = which === 'current' ? 0 : this.#beside.stop(true);
    return beside + (which === 'async' ? 0 : this.#queue.stop(which === 'all'));
  }

  /** The next frame of the mix; undefined when no sound is playing. */
  next(): Int16Array | undefined {
    const { rate } = this.#events;
    const [one, other] = [this.#queue.next(rate), this.#beside.next(rate)];
    if (one === undefined || other === undefined) return one ?? other;
    if (this.#mixed.length !== one.length) this.#mixed = new Int16Array(one.length);
    this.#mixed.set(one);
    mixInto(this.#mixed, other);
    return this.#mixed;
  }

  #done(file: string, figures: SoundFigures, more: EventHeaders): void {
    this.#events.publish('play-file-done', undefined, { ...figureHeaders(figures), File: file, ...more });
  }
}

/** Event headers of a finished sound. */
export function figureHeaders(figures: SoundFigures): EventHeaders {
  return {
    seconds: String(figures.seconds),
    milliseconds: String(figures.milliseconds),
    samples: String(figures.samples),
  };
}
