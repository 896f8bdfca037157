/** The sound of a room. */
import type { ConferenceMix, MediaEndpoint, MemberNotice } from '../media/index.ts';
import type { Participant } from './participant.ts';
import { askForPin } from './pin.ts';
import type { ConferenceServices } from './ports.ts';
import type { RoomEvents } from './room-events.ts';
import type { RoomSettings } from './settings.ts';
import type { HearingChange, Topology } from './topology.ts';

/** Sound state of one participant. */
interface Seat {
  /** Aborted when the participant leaves. */
  readonly gone: AbortController;
  /** Ends the PIN prompt. */
  asking: AbortController | undefined;
  /** True in the mix, or while entering it. */
  joining: Promise<{ readonly member: number; readonly left: Promise<void> }> | undefined;
  /** Member id in the mix. */
  member: number | undefined;
  moderator: boolean;
  pinGiven: boolean;
  /** True after having been in the mix. */
  seated: boolean;
  /** The media server hears the participant speak. */
  talking: boolean;
}

/** State of a departed participant. */
export interface Departure {
  /** True after having been in the mix. */
  readonly wasIn: boolean;
  readonly moderated: boolean;
}

/**
 * The sound of one room: moves participants into the mix and applies the topology to it. Parted pairs never hear a
 * packet of each other: a participant with parted pairs enters silently and is let in once the media server has applied
 * them.
 */
export class RoomSound {
  readonly #services: ConferenceServices;
  readonly #settings: RoomSettings;
  readonly #mix: ConferenceMix;
  readonly #topology: Topology;
  readonly #events: RoomEvents;
  readonly #seats = new Map<Participant, Seat>();
  /** By participant id, as in the topology. */
  readonly #members = new Map<string, number>();

  constructor(
    services: ConferenceServices,
    room: { readonly mix: ConferenceMix; readonly settings: RoomSettings },
    topology: Topology,
    events: RoomEvents,
  ) {
    this.#services = services;
    this.#settings = room.settings;
    this.#mix = room.mix;
    this.#topology = topology;
    this.#events = events;
  }

  /** Number of participants in the mix. */
  get members(): number {
    return this.#members.size;
  }

  stateOf(participant: Participant): Pick<Seat, 'moderator' | 'talking'> {
    return this.#seats.get(participant) ?? { moderator: false, talking: false };
  }

  /**
   * Enters the mix, after the PIN if required. A caller without the PIN is hung up.
   * @throws MediaError, EndpointGone
   */
  async connect(participant: Participant, endpoint: MediaEndpoint): Promise<void> {
    const seat = this.#seat(participant);
    if (seat.joining !== undefined || seat.asking !== undefined || seat.gone.signal.aborted) return;
    if (participant.admission.asksPin && !seat.pinGiven) {
      if (!(await this.#knowsPin(participant, seat, endpoint))) return;
    }
    seat.pinGiven = true;
    await this.#enter(participant, seat, endpoint);
  }

  /** Leaves the mix; settles when the endpoint is free. */
  async disconnect(participant: Participant): Promise<void> {
    const seat = this.#seats.get(participant);
    seat?.asking?.abort(new DOMException('the call goes elsewhere', 'AbortError'));
    const joining = await seat?.joining?.catch(() => undefined);
    if (joining === undefined) return;
    this.#out(participant);
    this.#talks(participant, false);
    participant.become('hold');
    await this.#mix.remove(joining.member);
    await joining.left;
  }

  /** The phone holds or resumes the conference; while held, its music on hold is not mixed in. */
  held(participant: Participant): void {
    const member = this.#seats.get(participant)?.member;
    if (member === undefined || !participant.become(participant.held ? 'hold' : 'connected')) return;
    if (!participant.admission.muted) this.#run(this.#mix.mute(member, participant.held), 'hold');
  }

  /** The participant left. */
  left(participant: Participant): Departure {
    const seat = this.#seats.get(participant);
    if (seat === undefined) return { wasIn: false, moderated: false };
    seat.gone.abort(new DOMException('the call is over', 'AbortError'));
    seat.asking?.abort(seat.gone.signal.reason);
    this.#out(participant);
    this.#seats.delete(participant);
    if (seat.seated && this.#members.size > 0) this.#announce(this.#settings.announceLeave);
    return { wasIn: seat.seated, moderated: seat.seated && seat.moderator };
  }

  /** Applies the topology to the mix; settles when the media server has done it. */
  async apply(changes: readonly HearingChange[]): Promise<void> {
    const byListener = new Map<string, { hears: number[]; hearsNot: number[] }>();
    for (const { from, to, enabled } of changes) {
      const speaker = this.#members.get(from);
      if (speaker === undefined || !this.#members.has(to)) continue;
      const lists = byListener.get(to) ?? { hears: [], hearsNot: [] };
      byListener.set(to, lists);
      (enabled ? lists.hears : lists.hearsNot).push(speaker);
    }
    const commands: Promise<void>[] = [];
    for (const [to, { hears, hearsNot }] of byListener) {
      const listener = this.#members.get(to);
      if (listener === undefined) continue;
      if (hearsNot.length > 0) commands.push(this.#mix.relate(listener, hearsNot, false));
      if (hears.length > 0) commands.push(this.#mix.relate(listener, hears, true));
    }
    await Promise.all(commands);
  }

  #seat(participant: Participant): Seat {
    let seat = this.#seats.get(participant);
    if (seat === undefined) {
      const { moderator } = participant.admission;
      seat = {
        gone: new AbortController(),
        asking: undefined,
        joining: undefined,
        member: undefined,
        moderator,
        pinGiven: false,
        seated: false,
        talking: false,
      };
      this.#seats.set(participant, seat);
    }
    return seat;
  }

  async #knowsPin(participant: Participant, seat: Seat, endpoint: MediaEndpoint): Promise<boolean> {
    const asking = new AbortController();
    seat.asking = asking;
    try {
      const prompt = await this.#services.sound(this.#settings.pinPrompt);
      const who = await askForPin(endpoint, this.#settings, prompt, asking.signal);
      if (who === undefined) participant.line?.hangUp('wrong PIN');
      if (who === 'moderator') seat.moderator = true;
      return who !== undefined;
    } catch (error) {
      if (asking.signal.aborted) return false;
      throw error;
    } finally {
      seat.asking = undefined;
    }
  }

  async #enter(participant: Participant, seat: Seat, endpoint: MediaEndpoint): Promise<void> {
    const { music, waitForModerator } = this.#settings;
    const { muted } = participant.admission;
    const apart = muted || participant.held || this.#topology.partedFrom(participant.participantid).length > 0;
    const joining = this.#mix.join(endpoint, {
      moderator: seat.moderator,
      apart,
      music,
      waitForModerator,
      onEntered: (member) => this.#entered(participant, seat, member, apart),
      onNotice: (notice) => this.#notice(participant, notice),
    });
    seat.joining = joining;
    try {
      const { member, left } = await joining;
      void left.then(() => {
        // Removed by someone else, e.g. an operator of the media server: ends the call.
        if (seat.member === member) participant.line?.hangUp('taken out');
      });
    } catch (error) {
      seat.joining = undefined;
      if (!seat.gone.signal.aborted) throw error;
    }
  }

  /** The member has entered: the topology is applied in the same turn, before other commands. */
  #entered(participant: Participant, seat: Seat, member: number, apart: boolean): void {
    if (seat.gone.signal.aborted) return;
    const first = !seat.seated;
    seat.seated = true;
    seat.member = member;
    this.#members.set(participant.participantid, member);
    const work = [this.apply(this.#topology.partedFrom(participant.participantid))];
    const silent = participant.admission.muted || participant.held;
    if (apart) work.push(this.#mix.letIn(member, silent));
    else if (silent) work.push(this.#mix.mute(member, true));
    this.#run(Promise.all(work), 'topology');
    participant.become(participant.held ? 'hold' : 'connected');
    if (!first) return;
    this.#events.joined(participant, seat.moderator);
    this.#services.observer.happened('conf_join');
    if (participant.admission.muted) this.#events.muted(participant, true);
    if (this.#members.size > 1) this.#announce(this.#settings.announceEnter);
  }

  #notice(participant: Participant, notice: MemberNotice): void {
    switch (notice) {
      case 'talking':
      case 'silent':
        this.#talks(participant, notice === 'talking');
        return;
      case 'muted':
        // The media server does not say that a muted member is silent now.
        this.#talks(participant, false);
        return;
      case 'unmuted':
        // The room publishes its own actions itself.
        return;
      default:
        notice satisfies never;
    }
  }

  #talks(participant: Participant, talking: boolean): void {
    const seat = this.#seats.get(participant);
    if (seat === undefined || seat.talking === talking) return;
    seat.talking = talking;
    this.#events.talking(participant, talking);
  }

  #out(participant: Participant): void {
    this.#members.delete(participant.participantid);
    const seat = this.#seats.get(participant);
    if (seat === undefined) return;
    seat.joining = undefined;
    seat.member = undefined;
  }

  #announce(sound: string): void {
    if (sound === '') return;
    this.#run(
      Promise.resolve().then(async () => this.#mix.play(await this.#services.sound(sound))),
      'announcement',
    );
  }

  /** Background work. */
  #run(work: Promise<unknown>, what: string): void {
    work.catch((err: unknown) => this.#services.log.error({ err }, `conference: ${what} failed`));
  }
}
