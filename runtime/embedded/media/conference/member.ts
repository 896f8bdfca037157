import { FRAME_SAMPLES } from '../audio/format.ts';
import { energy } from '../audio/mix.ts';
import { NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import type { Conference } from './conference.ts';
import { Limiter } from './limiter.ts';
import { SoundQueue } from './sound-queue.ts';
import { TalkDetector } from './talk-detector.ts';

/** Energy from which a member counts as talking, unless set otherwise. */
const DEFAULT_ENERGY_LEVEL = 100;

/** A channel in a conference. */
export class Member implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly id: number;
  readonly channel: Channel;
  readonly conference: Conference;
  readonly flags: ReadonlySet<string>;
  readonly joinedAt = Date.now();
  readonly sounds: SoundQueue;
  readonly limiter = new Limiter();
  /** What this member is to hear in this tick, and what it said. */
  readonly output = new Int16Array(FRAME_SAMPLES);
  input: Int16Array | undefined;
  /** A sound that only this member hears. */
  sound: Int16Array | undefined;
  muted: boolean;
  deaf: boolean;
  energyLevel = DEFAULT_ENERGY_LEVEL;
  currentEnergy = 0;
  /** Steps of 3 dB. */
  volumeIn = 0;
  volumeOut = 0;
  readonly #talk = new TalkDetector();
  readonly #release: () => void;
  readonly #scaled = new Int16Array(FRAME_SAMPLES);
  #gone = false;

  constructor(conference: Conference, channel: Channel, id: number, flags: ReadonlySet<string>) {
    this.conference = conference;
    this.channel = channel;
    this.id = id;
    this.flags = flags;
    this.muted = flags.has('mute');
    this.deaf = flags.has('deaf');
    this.#release = channel.audio.listen();
    this.sounds = new SoundQueue(({ file }, figures) => conference.memberSoundDone(this, file, figures));
  }

  get moderator(): boolean {
    return this.flags.has('moderator');
  }

  get talking(): boolean {
    return this.#talk.talking;
  }

  /** A leg from which nothing can be received is not read: neither its audio nor its commands. */
  get ignoresCommands(): boolean {
    return !this.channel.rtp.mayReceive;
  }

  /** Takes what the far end said in this tick. */
  listen(): void {
    const frame = this.channel.audio.read();
    this.currentEnergy = frame === undefined ? 0 : energy(frame);
    this.input = frame === undefined || this.muted ? undefined : this.#atVolume(frame, this.volumeIn);
    if (this.muted) {
      if (this.flags.has('mute-detect') && this.#talk.frame(this.currentEnergy, this.energyLevel) === 'started') {
        this.conference.publish('mute-detect', this);
      }
      return;
    }
    const change = this.#talk.frame(this.currentEnergy, this.energyLevel);
    if (change === 'started') this.conference.publish('start-talking', this);
    else if (change === 'stopped') this.conference.publish('stop-talking', this);
  }

  setMuted(muted: boolean): void {
    this.muted = muted;
    this.#talk.reset();
    this.conference.publish(muted ? 'mute-member' : 'unmute-member', this);
  }

  setDeaf(deaf: boolean): void {
    this.deaf = deaf;
    this.conference.publish(deaf ? 'deaf-member' : 'undeaf-member', this);
  }

  /** Ends the membership at the next tick; the channel goes back to what it did before. */
  leave(): void {
    this.#gone = true;
  }

  tick(): boolean {
    if (this.#gone) return true;
    this.channel.audio.write(this.#atVolume(this.output, this.volumeOut));
    return false;
  }

  digit(digit: string): void {
    this.conference.digit(this, digit);
  }

  end(): void {
    this.#gone = true;
    this.#release();
    this.conference.removeMember(this);
  }

  #atVolume(frame: Int16Array, steps: number): Int16Array {
    if (steps === 0) return frame;
    const factor = 10 ** ((steps * 3) / 20);
    for (let index = 0; index < frame.length; index += 1) {
      const scaled = (frame[index] as number) * factor;
      this.#scaled[index] = scaled > 32_767 ? 32_767 : scaled < -32_768 ? -32_768 : scaled;
    }
    return this.#scaled;
  }
}
