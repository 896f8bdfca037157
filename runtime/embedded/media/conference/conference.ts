import { randomUUID } from 'node:crypto';
import type { AudioSource } from '../audio/source.ts';
import { FRAME_SAMPLES } from '../audio/format.ts';
import { WavWriter } from '../audio/wav-writer.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { EventHeaders } from '../esl/event.ts';
import { recordingPath } from '../recording/paths.ts';
import { ConferenceRecording } from './conference-recording.ts';
import type { ConferenceEntry } from './entry.ts';
import { Floor } from './floor.ts';
import { Member } from './member.ts';
import { memberHeaders } from './member-headers.ts';
import { Mixer } from './mixer.ts';
import { Relations } from './relations.ts';
import { type QueuedSound, type SoundFigures, SoundQueue } from './sound-queue.ts';

const SUBCLASS = 'conference::maintenance';

/** A conference: its members, what they hear, and the events about them. It ends with its last member. */
export class Conference {
  readonly name: string;
  readonly profile: string;
  readonly uuid = randomUUID();
  readonly startedAt = Date.now();
  readonly core: MediaCore;
  readonly relations = new Relations();
  readonly floor: Floor;
  readonly sounds: SoundQueue;
  readonly recordings: ConferenceRecording[] = [];
  pin: string;
  locked = false;
  maxMembers = 0;
  readonly #onEmpty: (conference: Conference) => void;
  readonly #members: Member[] = [];
  readonly #mixer = new Mixer();
  readonly #waiting = new Int16Array(FRAME_SAMPLES);
  #waitForModerator: boolean;
  #holdMusic: AudioSource | undefined;
  #hadTwo = false;
  #ended = false;

  constructor(core: MediaCore, entry: ConferenceEntry, onEmpty: (conference: Conference) => void) {
    this.core = core;
    this.name = entry.name;
    this.profile = entry.profile;
    this.pin = entry.pin;
    this.#waitForModerator = entry.profile.replace('-', '') === 'waitmod' || entry.flags.has('wait-mod');
    this.#onEmpty = onEmpty;
    this.floor = new Floor(this);
    this.sounds = new SoundQueue(({ file }, figures) => this.#soundDone(file, figures));
    this.publish('conference-create');
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Members that are not ghosts: `Conference-Size`. */
  get size(): number {
    return this.#members.filter((member) => !member.flags.has('ghost')).length;
  }

  get waitsForModerator(): boolean {
    return this.#waitForModerator;
  }

  member(id: number): Member | undefined {
    return this.#members.find((member) => member.id === id);
  }

  /** Whether somebody may enter. */
  admits(entry: ConferenceEntry): boolean {
    if (this.#ended || (this.locked && !entry.flags.has('moderator'))) return false;
    if (this.maxMembers > 0 && this.size >= this.maxMembers) return false;
    return this.pin === '' || this.pin === entry.pin || this.#members.length === 0;
  }

  /** Makes a channel a member. */
  add(channel: Channel, id: number, entry: ConferenceEntry): Member {
    const member = new Member(this, channel, id, entry.flags);
    this.#members.push(member);
    this.publish('add-member', member);
    if (entry.flags.has('moderator')) this.#waitForModerator = false;
    if (this.size >= 2) this.#hadTwo = true;
    return member;
  }

  /** Called by a member that has left. */
  removeMember(member: Member): void {
    const index = this.#members.indexOf(member);
    if (index < 0) return;
    this.#members.splice(index, 1);
    this.relations.forget(member.id);
    this.floor.left(member);
    this.publish('del-member', member);
    if (this.#members.length === 0) this.#end();
    else if (this.#endsWithout(member)) {
      for (const other of this.#members.slice()) other.channel.hangup('NORMAL_CLEARING', 'api');
    }
  }

  /** Handles one frame slot: listen to all, mix, record. The members send their part in their channels' tick. */
  mix(): void {
    for (const member of this.#members) member.listen();
    this.floor.update();
    if (this.#waitForModerator) this.#playHoldMusic();
    else {
      for (const member of this.#members) member.sound = member.sounds.next();
      this.#mixer.mix(this.#members, this.relations, this.sounds.next());
      for (const recording of this.recordings) recording.write(this.#mixer.sum);
    }
  }

  /** Queues a sound for all, or for one member. Rejects with SoundNotFoundError. */
  async play(file: string, member?: Member): Promise<void> {
    const sound: QueuedSound = { file, source: await this.core.sounds.open(file) };
    if (member === undefined) {
      this.sounds.add(sound);
      this.publish('play-file', undefined, { File: file, Async: 'false' });
    } else {
      member.sounds.add(sound);
      this.publish('play-file-member', member, { File: file });
    }
  }

  memberSoundDone(member: Member, file: string, figures: SoundFigures): void {
    this.publish('play-file-member-done', member, { ...figureHeaders(figures), File: file });
  }

  /** Starts a recording. Rejects with the system's error. */
  async record(name: string): Promise<void> {
    const writer = await WavWriter.open(recordingPath(this.core, name));
    const recording = new ConferenceRecording(name, writer);
    if (this.#ended) {
      await recording.close();
      return;
    }
    this.recordings.push(recording);
    this.publish('start-recording', undefined, { Path: name });
  }

  /** Stops the recordings of that name, or `all`. Resolves when their files are complete. */
  async stopRecording(name: string): Promise<string[]> {
    const stopped = this.recordings.filter((each) => name === 'all' || each.name === name);
    for (const recording of stopped) this.recordings.splice(this.recordings.indexOf(recording), 1);
    await Promise.allSettled(stopped.map((each) => each.close()));
    for (const recording of stopped) this.publish('stop-recording', undefined, { Path: recording.name });
    return stopped.map((each) => each.name);
  }

  /** A digit of a member. */
  digit(member: Member, digit: string): void {
    this.publish('dtmf', member, { 'DTMF-Key': digit, Data: digit });
    if (!member.flags.has('dist-dtmf')) return;
    for (const other of this.#members) if (other !== member) other.channel.rtp.sendDigits(digit, 100);
  }

  /** Publishes a conference::maintenance event. */
  publish(action: string, member?: Member, more: EventHeaders = {}): void {
    const build = (): EventHeaders => ({
      ...this.core.identity.eventHeaders('CUSTOM', SUBCLASS),
      'Conference-Name': this.name,
      'Conference-Domain': this.core.identity.address,
      'Conference-Size': String(this.size),
      'Conference-Ghosts': String(this.#members.length - this.size),
      'Conference-Profile-Name': this.profile,
      'Conference-Unique-ID': this.uuid,
      ...(member === undefined ? {} : memberHeaders(member)),
      Action: action,
      ...more,
    });
    this.core.bus.publish('CUSTOM', build, SUBCLASS);
  }

  #endsWithout(member: Member): boolean {
    if (member.flags.has('endconf') && !this.#members.some((other) => other.flags.has('endconf'))) return true;
    return (
      this.#hadTwo &&
      this.size < 2 &&
      (member.flags.has('mintwo') || this.#members.some((other) => other.flags.has('mintwo')))
    );
  }

  #playHoldMusic(): void {
    if (this.#holdMusic === undefined) {
      this.#holdMusic = this.core.sounds.openHoldMusic();
    }
    this.#holdMusic.read(this.#waiting);
    for (const member of this.#members) member.output.set(this.#waiting);
  }

  #soundDone(file: string, figures: SoundFigures): void {
    this.publish('play-file-done', undefined, { ...figureHeaders(figures), File: file });
  }

  #end(): void {
    this.#ended = true;
    void this.stopRecording('all').then(() => this.publish('conference-destroy'));
    this.#onEmpty(this);
  }
}

function figureHeaders(figures: SoundFigures): EventHeaders {
  return {
    seconds: String(figures.seconds),
    milliseconds: String(figures.milliseconds),
    samples: String(figures.samples),
  };
}
