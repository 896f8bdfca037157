/** A conference. */
import { randomUUID } from 'node:crypto';
import type { AudioSource } from '../audio/source.ts';
import { frameSamples, type Rate, SAMPLE_RATE, WIDEBAND_RATE } from '../audio/format.ts';
import type { Channel } from '../channel/channel.ts';
import type { ChannelCore } from '../channel/core.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { ConferenceEntry } from './entry.ts';
import { Floor } from './floor.ts';
import { Member, type MemberConference } from './member.ts';
import { memberHeaders } from './member-headers.ts';
import { Mixer } from './mixer.ts';
import { type RecordedConference, Recordings } from './recordings.ts';
import { Relations } from './relations.ts';
import type { SoundFigures } from './sound-queue.ts';
import { ConferenceSounds, figureHeaders } from './sounds.ts';

const SUBCLASS = 'conference::maintenance';

/** The part of the media server that a conference uses. */
type ConferenceCore = Pick<ChannelCore, 'identity' | 'bus' | 'turns' | 'sounds' | 'recordings'>;

/** The part of the conference table that a conference uses. */
export interface ConferenceKeeper {
  /** The id of the next member. */
  nextMemberId(): number;
  /** The last member has left. */
  remove(conference: Conference): void;
}

/** A conference: its members, their mix, and its events. It ends with its last member. */
export class Conference implements MemberConference, RecordedConference {
  readonly name: string;
  readonly profile: string;
  readonly uuid = randomUUID();
  readonly startedAt = Date.now();
  /** The turn within each frame in which it is mixed and its members' audio is sent: the turn of its first member. */
  readonly turn: number;
  readonly relations = new Relations();
  readonly floor: Floor;
  readonly sounds: ConferenceSounds;
  readonly recordings: Recordings;
  /** Variables of `setvar`, part of every event of the conference. */
  readonly variables = new Map<string, string>();
  /** Flags for lists. */
  enterSound = true;
  exitSound = true;
  pin: string;
  locked = false;
  maxMembers = 0;
  readonly #core: ConferenceCore;
  readonly #keeper: ConferenceKeeper;
  readonly #members: Member[] = [];
  readonly #mixer = new Mixer();
  #waiting = new Int16Array(0);
  #rate: Rate = SAMPLE_RATE;
  #waitForModerator: boolean;
  #holdMusic: AudioSource | undefined;
  #musicWhileAlone = false;
  #hadTwo = false;
  #ended = false;

  constructor(core: ConferenceCore, entry: ConferenceEntry, turn: number, keeper: ConferenceKeeper) {
    this.#core = core;
    this.turn = turn;
    this.name = entry.name;
    this.profile = entry.profile;
    this.pin = entry.pin;
    this.#waitForModerator = entry.profile.replace('-', '') === 'waitmod' || entry.flags.has('wait-mod');
    this.#keeper = keeper;
    this.floor = new Floor(this.#members, this);
    this.recordings = new Recordings(core.recordings, this);
    this.sounds = new ConferenceSounds(core.sounds, this);
    this.publish('conference-create');
  }

  /** Samples a second of the mix: wideband once a member is, until its end. */
  get rate(): Rate {
    return this.#rate;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Members that are not ghosts: `Conference-Size`. */
  get size(): number {
    return this.#members.filter((member) => !member.flags.has('ghost')).length;
  }

  /** True once its last member has left. */
  get ended(): boolean {
    return this.#ended;
  }

  get waitsForModerator(): boolean {
    return this.#waitForModerator;
  }

  member(id: number): Member | undefined {
    return this.#members.find((member) => member.id === id);
  }

  /** Whether a channel may enter. */
  admits(entry: ConferenceEntry): boolean {
    if (this.#ended || (this.locked && !entry.flags.has('moderator'))) return false;
    if (this.maxMembers > 0 && this.size >= this.maxMembers) return false;
    return this.pin === '' || this.pin === entry.pin || this.#members.length === 0;
  }

  /** Makes a channel a member. */
  add(channel: Channel, id: number, entry: ConferenceEntry): Member {
    const member = new Member(this, channel, id, entry.flags);
    member.setRate(this.#rate);
    this.#core.turns.move(channel, this.turn);
    channel.set('conference_name', this.name);
    channel.set('conference_member_id', String(id));
    channel.set('conference_moderator', String(member.moderator));
    channel.set('conference_ghost', String(entry.flags.has('ghost')));
    channel.set('conference_uuid', this.uuid);
    if (this.#members.length === 0) this.#musicWhileAlone = (channel.get('conference_moh_sound') ?? '') !== '';
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
    this.floor.left(member);
    this.#members.splice(index, 1);
    this.relations.forget(member.id);
    this.publish('del-member', member);
    if (this.#members.length === 0) this.#end();
    else if (this.#endsWithout(member)) {
      for (const other of this.#members.slice()) other.channel.hangup('NORMAL_CLEARING', 'api');
    }
  }

  /** Handles one frame slot: reads all members, mixes, records. The members send in their channels' tick. */
  mix(): void {
    if (this.#rate === SAMPLE_RATE && this.#members.some(({ channel }) => channel.audio.rate !== SAMPLE_RATE))
      this.#widen();
    for (const member of this.#members) member.listen();
    this.floor.update();
    if (this.#waitForModerator) this.#playHoldMusic();
    else {
      for (const member of this.#members) member.sound = member.sounds.next(this.#rate);
      this.#mixer.mix(this.#members, this.relations, this.sounds.next());
      this.recordings.write(this.#mixer.sum);
      if (this.#aloneWithMusic) this.#playHoldMusic();
    }
  }

  /**
   * Whether to play hold music: one member is alone, its variable `conference_moh_sound` asks for it, no sound plays.
   */
  get #aloneWithMusic(): boolean {
    const [member] = this.#members;
    if (!this.#musicWhileAlone || this.#members.length !== 1 || member === undefined) return false;
    return !member.flags.has('nomoh') && !this.sounds.playing && member.sounds.length === 0;
  }

  memberSoundDone(member: Member, file: string, figures: SoundFigures): void {
    this.publish('play-file-member-done', member, { ...figureHeaders(figures), File: file });
  }

  /** A digit of a member. */
  digit(member: Member, digit: string): void {
    if (!member.flags.has('dist-dtmf')) return;
    for (const other of this.#members) if (other !== member) other.channel.rtp.sendDigits(digit, 100);
  }

  nextMemberId(): number {
    return this.#keeper.nextMemberId();
  }

  /** Publishes a conference::maintenance event. */
  publish(action: string, member?: Member, more: EventHeaders = {}): void {
    const build = (): EventHeaders => ({
      ...this.#core.identity.eventHeaders('CUSTOM', SUBCLASS),
      'Conference-Name': this.name,
      'Conference-Domain': this.#core.identity.address,
      'Conference-Size': String(this.size),
      'Conference-Ghosts': String(this.#members.length - this.size),
      'Conference-Profile-Name': this.profile,
      'Conference-Unique-ID': this.uuid,
      ...Object.fromEntries(this.variables),
      ...(member === undefined ? {} : memberHeaders(member)),
      Action: action,
      ...more,
    });
    this.#core.bus.publish('CUSTOM', build, SUBCLASS);
  }

  #endsWithout(member: Member): boolean {
    if (member.flags.has('endconf')) return true;
    return (
      this.#hadTwo &&
      this.size < 2 &&
      (member.flags.has('mintwo') || this.#members.some((other) => other.flags.has('mintwo')))
    );
  }

  #widen(): void {
    this.#rate = WIDEBAND_RATE;
    this.#mixer.setRate(WIDEBAND_RATE);
    this.#holdMusic = undefined;
    for (const member of this.#members) member.setRate(WIDEBAND_RATE);
  }

  #playHoldMusic(): void {
    if (this.#holdMusic === undefined) {
      this.#holdMusic = this.#core.sounds.openHoldMusic(this.#rate);
      this.#waiting = new Int16Array(frameSamples(this.#rate));
    }
    this.#holdMusic.read(this.#waiting);
    for (const member of this.#members) member.output.set(this.#waiting);
  }

  #end(): void {
    this.#ended = true;
    void this.recordings.end().then(() => this.publish('conference-destroy'));
    this.#keeper.remove(this);
  }
}
