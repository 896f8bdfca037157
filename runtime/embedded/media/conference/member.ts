/** A member of a conference. */
import { frameSamples, type Rate } from '../audio/format.ts';
import { energy } from '../audio/mix.ts';
import { NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import type { EventHeaders } from '../esl/event.ts';
import { Limiter } from './limiter.ts';
import { type SoundFigures, SoundQueue } from './sound-queue.ts';
import { TalkDetector } from './talk-detector.ts';
import { talkHeaders } from './talk-headers.ts';

/** Default energy level above which a member counts as talking. */
const DEFAULT_ENERGY_LEVEL = 100;

/** Publishes the events of a conference. */
export interface ConferenceEvents {
  /**
   * @param member the member that the event is about
   * @param more further headers of the event
   */
  publish(action: string, member?: Member, more?: EventHeaders): void;
}

/** The part of a conference that a member uses. */
export interface MemberConference extends ConferenceEvents {
  readonly floor: { readonly holder: Member | undefined };
  /** Samples a second of the mix. */
  readonly rate: Rate;
  /** A digit of the member. */
  digit(member: Member, digit: string): void;
  /** A sound that only the member hears has ended. */
  memberSoundDone(member: Member, file: string, figures: SoundFigures): void;
  /** The member has left. */
  removeMember(member: Member): void;
}

/** A channel in a conference. */
export class Member implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly id: number;
  readonly channel: Channel;
  readonly flags: ReadonlySet<string>;
  readonly joinedAt = Date.now();
  readonly sounds: SoundQueue;
  readonly limiter = new Limiter();
  /** The audio that this member hears in this tick, and the audio that it sent. */
  output = new Int16Array(0);
  input: Int16Array | undefined;
  /** A sound that only this member hears. */
  sound: Int16Array | undefined;
  muted: boolean;
  deaf: boolean;
  /** On hold: neither hears nor is heard, except for sounds played to it alone. */
  held = false;
  energyLevel = DEFAULT_ENERGY_LEVEL;
  currentEnergy = 0;
  /** Steps of 3 dB. */
  volumeIn = 0;
  volumeOut = 0;
  readonly #conference: MemberConference;
  readonly #talk = new TalkDetector();
  #lastTalkingAt = 0;
  readonly #release: () => void;
  #scaled = new Int16Array(0);
  #gone = false;

  constructor(conference: MemberConference, channel: Channel, id: number, flags: ReadonlySet<string>) {
    this.#conference = conference;
    this.channel = channel;
    this.id = id;
    this.flags = flags;
    this.muted = flags.has('mute');
    this.deaf = flags.has('deaf');
    channel.readsLinear = true;
    this.#release = channel.audio.listen();
    this.sounds = new SoundQueue(({ file }, figures) => conference.memberSoundDone(this, file, figures));
  }

  get moderator(): boolean {
    return this.flags.has('moderator');
  }

  get hasFloor(): boolean {
    return this.#conference.floor.holder === this;
  }

  get talking(): boolean {
    return this.#talk.talking;
  }

  /** Score of its speaking, for the floor. */
  get score(): number {
    return this.#talk.score;
  }

  /** Time of its last talking, ms since 1970; 0 for never. */
  get lastTalkingAt(): number {
    return this.#lastTalkingAt;
  }

  /** A leg from which SDP allows no reception is not read: neither its audio nor its commands. */
  get ignoresCommands(): boolean {
    return !this.channel.rtp.mayReceive;
  }

  /** Takes part in a mix of this rate from now on. */
  setRate(rate: Rate): void {
    this.output = new Int16Array(frameSamples(rate));
  }

  /**
   * Reads the far end's audio of this tick. As in mod_conference, sound below the member's energy level is not mixed.
   */
  listen(): void {
    const speaks = !this.muted && !this.held;
    this.input = undefined;
    const frame = this.channel.audio.read(this.#conference.rate);
    if (!speaks && !this.flags.has('mute-detect')) return;
    const said = frame === undefined ? undefined : this.#atVolume(frame, this.volumeIn);
    if (said !== undefined) this.currentEnergy = Math.trunc(energy(said));
    const change = this.#talk.frame(said === undefined ? undefined : this.currentEnergy, this.energyLevel);
    if (this.talking) this.#lastTalkingAt = Date.now();
    if (change === 'started') this.publish(speaks ? 'start-talking' : 'mute-detect');
    else if (change === 'stopped') this.publish('stop-talking', talkHeaders(this.#talk.figures));
    if (speaks && (this.talking || this.energyLevel === 0)) this.input = said;
  }

  /** Publishes an event of the conference about this member. */
  publish(action: string, more?: EventHeaders): void {
    this.#conference.publish(action, this, more);
  }

  setMuted(muted: boolean): void {
    this.muted = muted;
    if (muted) this.#talk.reset();
    this.publish(muted ? 'mute-member' : 'unmute-member');
  }

  setHeld(held: boolean): void {
    this.held = held;
    if (held) this.#talk.reset();
    else this.sounds.stop(true);
    this.publish(held ? 'hold-member' : 'unhold-member');
  }

  /** Resets the score when the member gets the floor. */
  resetScore(): void {
    this.#talk.resetScore();
  }

  /** Ends its talking when a relation mutes it for another member; further speech starts it again. */
  stopTalking(): void {
    this.#talk.stop();
  }

  setDeaf(deaf: boolean): void {
    this.deaf = deaf;
    this.publish(deaf ? 'deaf-member' : 'undeaf-member');
  }

  /** Leaves the conference at the next tick; the channel resumes its earlier application. */
  leave(): void {
    this.#gone = true;
  }

  tick(): boolean {
    if (this.#gone) return true;
    this.channel.audio.write(this.#atVolume(this.output, this.volumeOut));
    return false;
  }

  digit(digit: string): void {
    this.#conference.digit(this, digit);
  }

  end(): void {
    this.#gone = true;
    this.#release();
    this.#conference.removeMember(this);
    this.channel.readsLinear = false;
  }

  #atVolume(frame: Int16Array, steps: number): Int16Array {
    if (steps === 0) return frame;
    const factor = 10 ** ((steps * 3) / 20);
    if (this.#scaled.length !== frame.length) this.#scaled = new Int16Array(frame.length);
    for (let index = 0; index < frame.length; index += 1) {
      const scaled = (frame[index] as number) * factor;
      this.#scaled[index] = scaled > 32_767 ? 32_767 : scaled < -32_768 ? -32_768 : scaled;
    }
    return this.#scaled;
  }
}
