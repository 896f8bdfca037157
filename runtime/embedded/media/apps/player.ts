/** Plays lists of sounds on a channel. */
import { FRAME_MS, frameSamples } from '../audio/format.ts';
import { SoundNotFoundError } from '../audio/sound-library.ts';
import type { AudioSource } from '../audio/source.ts';
import type { Channel } from '../channel/channel.ts';
import { reportFault } from '../core/fault.ts';
import type { EventHeaders } from '../esl/event.ts';

/** Pause between the files of a list (`playback_sleep_val`). */
const LIST_PAUSE_MS = 250;

/** How playing ended. */
export type PlayResult = 'played' | 'stopped' | 'not-found' | 'timeout';

/** State of a player. `pausing` is the pause before the next file. */
type PlayerState = 'opening' | 'playing' | 'pausing' | 'ended';

/** Plays a list of sounds on a channel, with PLAYBACK_START and PLAYBACK_STOP for each. */
export class Player {
  readonly #channel: Channel;
  readonly #files: readonly string[];
  #frame = new Int16Array(0);
  readonly #timeoutFrames: number;
  #state: PlayerState = 'opening';
  #index = -1;
  #source: AudioSource | undefined;
  #pauseFrames = 0;
  #played = 0;
  #result: PlayResult = 'played';
  #held = false;

  constructor(channel: Channel, files: readonly string[]) {
    this.#channel = channel;
    this.#files = files;
    const seconds = Number(channel.get('playback_timeout_sec') ?? 0);
    // FreeSWITCH takes only values above one second.
    this.#timeoutFrames = seconds > 1 ? (seconds * 1000) / FRAME_MS : Number.POSITIVE_INFINITY;
    this.#openNext();
  }

  get ended(): boolean {
    return this.#state === 'ended';
  }

  get result(): PlayResult {
    return this.#result;
  }

  /** Handles one frame slot; true when playing has ended. */
  tick(): boolean {
    if (this.#state === 'playing') this.#play();
    else if (this.#state !== 'ended') this.#wait();
    return this.ended;
  }

  /**
   * Pauses or resumes the sound. A paused player sends silence, and its timeout runs on.
   * @returns false when no file is playing
   */
  pause(): boolean {
    if (this.#state !== 'playing') return false;
    this.#held = !this.#held;
    return true;
  }

  /** Ends playing now. */
  stop(): void {
    if (this.#state === 'ended') return;
    this.#closeSource('break');
    this.#result = 'stopped';
    this.#state = 'ended';
  }

  #openNext(): void {
    this.#index += 1;
    const name = this.#files[this.#index];
    if (name === undefined) {
      this.#state = 'ended';
      return;
    }
    this.#state = 'opening';
    const index = this.#index;
    this.#channel.core.sounds.open(name, this.#channel.audio.rate).then(
      (source) => this.#opened(index, source),
      (error: unknown) => this.#failed(index, error),
    );
  }

  #opened(index: number, source: AudioSource): void {
    if (this.#state !== 'opening' || index !== this.#index || this.#channel.ended) return;
    this.#source = source;
    this.#frame = new Int16Array(frameSamples(source.rate));
    this.#held = false;
    this.#state = 'playing';
    this.#result = 'played';
    this.#played = 0;
    this.#channel.publish('PLAYBACK_START', { last: this.#fileHeaders() });
  }

  #failed(index: number, error: unknown): void {
    if (!(error instanceof SoundNotFoundError)) reportFault('playback', error);
    if (this.#state !== 'opening' || index !== this.#index) return;
    this.#result = 'not-found';
    this.#openNext();
  }

  #wait(): void {
    this.#channel.audio.writeSilence();
    if (this.#state !== 'pausing') return;
    this.#pauseFrames -= 1;
    if (this.#pauseFrames <= 0) this.#openNext();
  }

  #play(): void {
    const count = this.#held ? 0 : (this.#source?.read(this.#frame) ?? 0);
    if (count > 0) {
      this.#frame.fill(0, count);
      this.#channel.audio.write(this.#frame);
    } else this.#channel.audio.writeSilence();
    this.#played += 1;
    if (!this.#held && (count < this.#frame.length || this.#atEnd())) {
      this.#closeSource('done');
      if (this.#index + 1 >= this.#files.length) this.#state = 'ended';
      else {
        this.#state = 'pausing';
        this.#pauseFrames = LIST_PAUSE_MS / FRAME_MS;
      }
    } else if (this.#played >= this.#timeoutFrames) {
      this.#closeSource('done');
      this.#result = 'timeout';
      this.#state = 'ended';
    }
  }

  /** Whether the file has ended. A file ends in the slot of its last full frame, not in an empty slot after it. */
  #atEnd(): boolean {
    return this.#source?.exhausted === true;
  }

  #closeSource(status: 'done' | 'break'): void {
    const source = this.#source;
    if (source === undefined) return;
    const { taken, rate } = source;
    const channel = this.#channel;
    channel.set('playback_last_offset_pos', String(source.position));
    channel.set('playback_seconds', String(Math.floor(taken / rate)));
    channel.set('playback_ms', String(Math.floor((taken * 1000) / rate)));
    channel.set('playback_samples', String(taken));
    channel.publish('PLAYBACK_STOP', { last: { ...this.#fileHeaders(), 'Playback-Status': status } });
    this.#source = undefined;
  }

  #fileHeaders(): EventHeaders {
    const type = this.#source?.type;
    return {
      ...(type === undefined ? {} : { 'Playback-File-Type': type }),
      'Playback-File-Path': this.#channel.core.sounds.shownPath(this.#files[this.#index] as string),
    };
  }
}

/** The files in the argument of `playback`: one, or several separated by the channel's `playback_delimiter`. */
export function fileList(channel: Channel, data: string): string[] {
  const delimiter = channel.get('playback_delimiter');
  const list = data.startsWith('file_string://')
    ? data.slice('file_string://'.length).split('!')
    : delimiter === undefined
      ? [data]
      : data.split(delimiter);
  return list.map((file) => file.trim()).filter((file) => file !== '');
}
