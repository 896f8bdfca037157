/** A live conference. */
import { randomBytes } from 'node:crypto';
import type { ConferenceView, ParticipantView, TopologyEntry } from '../callstore/index.ts';
import type { ConferenceMix, EndpointServer, MediaEndpoint } from '../media/index.ts';
import { type Admission, type Host, type Line, Participant } from './participant.ts';
import type { ConferenceObserver, ConferenceServices } from './ports.ts';
import { RoomEvents } from './room-events.ts';
import { RoomRecording } from './room-recording.ts';
import { RoomSound } from './room-sound.ts';
import type { RoomSettings } from './settings.ts';
import { keepsRoomAlive, type SeatState } from './state.ts';
import { Topology, type TopologyCommand } from './topology.ts';
import type { RoomAddress } from './room-address.ts';

/** Milliseconds that a failed invitation stays in the list, for the inviter to read. */
const FAILED_INVITATION_MS = 30_000;

/** A live conference: its participants and topology. It lives as long as someone is in it. */
export class Room implements Host {
  readonly confnumber = randomBytes(4).toString('hex');
  readonly confid = `conf-${this.confnumber}`;
  readonly startts = Date.now();
  readonly address: RoomAddress;
  readonly settings: RoomSettings;
  readonly mix: ConferenceMix;
  readonly #site: string;
  readonly #observer: ConferenceObserver;
  readonly #events: RoomEvents;
  readonly #sound: RoomSound;
  readonly #recording: RoomRecording;
  readonly #topology = new Topology();
  readonly #participants = new Map<string, Participant>();
  readonly #onBegin: (room: Room) => void;
  readonly #onSeated: (participant: Participant) => void;
  readonly #onLeft: (participant: Participant) => void;
  readonly #onEnd: (room: Room) => void;
  readonly #forgetting = new Set<NodeJS.Timeout>();
  /** True after the first participant: the conference is visible from then on. */
  #begun = false;
  #ended = false;

  /**
   * @param on the media server to use; undefined: any
   * @param told.begun the first participant has entered; callers before were at most asked for the PIN
   * @param told.seated a party became a participant; the room can be found by its dialog
   * @param told.left a party is no longer a participant
   * @param told.ended the room is empty
   */
  constructor(
    services: ConferenceServices,
    address: RoomAddress,
    settings: RoomSettings,
    on: EndpointServer | undefined,
    told: {
      begun(room: Room): void;
      seated(participant: Participant): void;
      left(participant: Participant): void;
      ended(room: Room): void;
    },
  ) {
    this.address = address;
    this.settings = settings;
    this.mix = services.mix(this.confid, on);
    this.#site = services.site;
    this.#observer = services.observer;
    this.#onBegin = (room) => told.begun(room);
    this.#onSeated = (participant) => told.seated(participant);
    this.#onLeft = (participant) => told.left(participant);
    this.#onEnd = (room) => told.ended(room);
    this.#events = new RoomEvents(services, this);
    this.#recording = new RoomRecording(services, this, this.#events);
    this.#sound = new RoomSound(services, this, this.#topology, this.#events);
  }

  /** Media server of the room; all its participants' endpoints are there. */
  get mediaServer(): EndpointServer {
    return this.mix.server;
  }

  get uri(): string {
    return this.address.uri;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Number of participants, including those entering and being called. */
  get size(): number {
    let size = 0;
    for (const { state } of this.#participants.values()) if (state !== 'disconnected') size++;
    return size;
  }

  /** Number of participants in the mix. */
  get members(): number {
    return this.#sound.members;
  }

  /** Remaining places. */
  get free(): number {
    return this.settings.maxMembers === 0 ? Number.POSITIVE_INFINITY : this.settings.maxMembers - this.size;
  }

  /**
   * Reserves a place; undefined when the room is full.
   * @param instead leaves once this one has entered
   */
  admit(admission: Admission, instead?: Participant): Participant | undefined {
    const place = instead !== undefined && this.participant(instead.participantid) === instead ? 1 : 0;
    if (this.#ended || this.free + place < 1) return undefined;
    const participant = new Participant(this, this.address.domain, admission);
    this.#participants.set(participant.participantid, participant);
    return participant;
  }

  /** A participant whose call exists or is being set up. */
  participant(id: string): Participant | undefined {
    const participant = this.#participants.get(id);
    return participant?.view() === undefined || participant.state === 'disconnected' ? undefined : participant;
  }

  /** Participants with this URI whose call exists or is being set up. */
  participantsAt(uri: string): readonly Participant[] {
    return [...this.#participants.values()].filter(
      (each) => this.participant(each.participantid) === each && each.admission.guest.uris().includes(uri),
    );
  }

  /** The calls of participants that exist or are being set up, by participant. */
  lines(): readonly (readonly [participantid: string, line: Line])[] {
    return [...this.#participants.values()].flatMap(({ participantid, state, line }) =>
      line === undefined || state === 'entering' || state === 'disconnected' ? [] : [[participantid, line] as const],
    );
  }

  /** True when the settings define moderators. */
  get hasModerators(): boolean {
    return this.settings.moderatorPin !== '' || this.settings.moderators.length > 0;
  }

  moderates(participant: Participant): boolean {
    return this.#sound.stateOf(participant).moderator;
  }

  /** Ends all calls, and thereby the room. */
  terminate(reason: string): void {
    for (const participant of Array.from(this.#participants.values())) participant.line?.hangUp(reason);
  }

  topology(): readonly TopologyEntry[] {
    return this.#topology.entries();
  }

  /**
   * Changes who hears whom; settles when the media server has done it.
   * @throws TopologyError when a command is invalid; none is executed then
   */
  async changeTopology(commands: readonly TopologyCommand[]): Promise<readonly TopologyEntry[]> {
    const began = performance.now();
    const inRoom = [...this.#participants.values()].filter(({ state }) => state === 'connected' || state === 'hold');
    const changes = this.#topology.apply(
      commands,
      inRoom.map(({ participantid }) => participantid),
      (id) => this.participant(id) !== undefined,
    );
    if (changes.length > 0) this.#events.topology(changes);
    const done = this.#sound.apply(changes);
    const entries = this.#topology.entries();
    await done;
    this.#observer.commanded(commands.length, (performance.now() - began) / 1000);
    return entries;
  }

  view(): ConferenceView {
    const uris = new Set<string>();
    for (const participant of this.#participants.values()) {
      if (participant.view() === undefined || participant.state === 'disconnected') continue;
      for (const uri of participant.admission.guest.uris()) uris.add(uri);
    }
    const { confid, confnumber, uri, startts } = this;
    const { confroomnum } = this.address;
    return { confid, confroomnum, confnumber, uri, site: this.#site, startts, uris: [...uris] };
  }

  participants(): readonly ParticipantView[] {
    return [...this.#participants.values()].flatMap((participant) => {
      const view = participant.view();
      const { moderator, talking } = this.#sound.stateOf(participant);
      return view === undefined ? [] : [{ ...view, moderator, talking }];
    });
  }

  /** Ids of the users who take part or are being called: they may follow the room. */
  users(): ReadonlySet<string> {
    const ids = new Set<string>();
    for (const { state, admission } of this.#participants.values()) {
      const { userId } = admission.guest;
      if (userId !== undefined && state !== 'entering' && state !== 'disconnected') ids.add(userId);
    }
    return ids;
  }

  // Notifications from participants.

  lined(participant: Participant): void {
    if (participant.state === 'entering') return;
    this.#seat(participant);
    this.#events.state(participant);
  }

  changed(participant: Participant, before: SeatState): void {
    if (before === 'entering') this.#seat(participant);
    this.#events.state(participant);
    if (participant.state === 'connected' && before !== 'hold') this.#recording.joined(participant);
  }

  connect(participant: Participant, endpoint: MediaEndpoint): Promise<void> {
    return this.#sound.connect(participant, endpoint);
  }

  disconnect(participant: Participant): Promise<void> {
    return this.#sound.disconnect(participant);
  }

  held(participant: Participant): void {
    this.#sound.held(participant);
  }

  over(participant: Participant, before: SeatState, reason: string, lastResponse: string | undefined): void {
    const { wasIn, moderated } = this.#sound.left(participant);
    this.#topology.forget(participant.participantid);
    this.#onLeft(participant);
    const { invited } = participant.admission;
    if (before !== 'entering') this.#events.left(participant, reason, lastResponse);
    if (wasIn) this.#observer.happened('conf_leave');
    this.#recording.left(participant);
    if (invited && !wasIn) this.#forgetLater(participant);
    else this.#participants.delete(participant.participantid);
    const all = [...this.#participants.values()];
    if (moderated && this.settings.endWithModerator && !all.some((other) => this.moderates(other))) {
      this.terminate('the last moderator left');
    }
    if (!all.some(({ state, admission }) => keepsRoomAlive(state, admission))) this.#end();
  }

  #seat(participant: Participant): void {
    if (!this.#begun) {
      this.#begun = true;
      this.#onBegin(this);
      this.#events.started();
      this.#observer.happened('conf_start');
    }
    this.#onSeated(participant);
  }

  #forgetLater({ participantid }: Participant): void {
    const timer = setTimeout(() => {
      this.#forgetting.delete(timer);
      this.#participants.delete(participantid);
    }, FAILED_INVITATION_MS);
    timer.unref();
    this.#forgetting.add(timer);
  }

  /** The room is empty: ringing parties are cancelled. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.terminate('the conference is over');
    for (const timer of this.#forgetting) clearTimeout(timer);
    this.#recording.ended();
    this.#onEnd(this);
    if (!this.#begun) return;
    this.#events.ended();
    this.#observer.happened('conf_end');
  }
}
