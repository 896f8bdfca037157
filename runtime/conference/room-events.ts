/** Events of one room. */
import { type SharedFarewell, tellOnce } from '../callstore/index.ts';
import type { Participant } from './participant.ts';
import type { ConferenceEventData, ConferenceEventType, ConferenceServices } from './ports.ts';
import type { RoomAddress } from './room-address.ts';
import type { HearingChange } from './topology.ts';

interface EventRoom {
  readonly confid: string;
  readonly address: RoomAddress;
  /** Ids of the users who take part. */
  users(): ReadonlySet<string>;
}

type Services = Pick<ConferenceServices, 'events' | 'farewells'>;

/** Publishes the events of one room. */
export class RoomEvents {
  readonly #services: Services;
  readonly #room: EventRoom;

  constructor(services: Services, room: EventRoom) {
    this.#services = services;
    this.#room = room;
  }

  started(): void {
    const { confid, address } = this.#room;
    const data = this.#names();
    const farewell: SharedFarewell = { id: confid, domain: address.domain, type: 'conf_end', data, users: [] };
    this.#services.farewells?.changed(confid, () => farewell);
    this.#tell('conf_start');
  }

  ended(): void {
    this.#tellOnce(this.#room.confid, 'conf_end', {});
  }

  joined(participant: Participant, moderator: boolean): void {
    this.#about('conf_join', participant, { moderator });
  }

  left(participant: Participant, reason: string, lastResponse: string | undefined): void {
    const data = {
      ...about(participant),
      reason,
      ...(lastResponse === undefined ? {} : { last_response: lastResponse }),
    };
    this.#tellOnce(participant.participantid, 'conf_leave', data, participant.admission.guest.userId);
  }

  state(participant: Participant): void {
    this.#services.farewells?.changed(participant.participantid, () => this.#farewell(participant));
    this.#about('conf_state', participant, { state: participant.state });
  }

  talking(participant: Participant, talking: boolean): void {
    this.#about('conf_talking', participant, { talking });
  }

  muted(participant: Participant, muted: boolean): void {
    this.#about('conf_muted', participant, { muted });
  }

  topology(changes: readonly HearingChange[]): void {
    this.#tell('conf_topology', { changes: changes.map(({ from, to, enabled }) => ({ from, to, enabled })) });
  }

  /**
   * @param layer name of the recording in the archive
   * @param participant the recorded participant; undefined: the whole conference
   */
  recording(recording: boolean, layer: string, participant?: Participant): void {
    const data = { recording, layer };
    if (participant === undefined) this.#tell('conf_recording', data);
    else this.#about('conf_recording', participant, data);
  }

  /** The `conf_leave` event that another node emits when this node dies. */
  #farewell(participant: Participant): SharedFarewell {
    const { participantid, admission } = participant;
    const { userId } = admission.guest;
    return {
      id: participantid,
      domain: this.#room.address.domain,
      type: 'conf_leave',
      data: { ...this.#names(), ...about(participant), reason: 'Node Lost' },
      users: userId === undefined ? [] : [userId],
    };
  }

  #about(type: ConferenceEventType, participant: Participant, data: ConferenceEventData): void {
    this.#tell(type, { ...about(participant), ...data }, participant.admission.guest.userId);
  }

  /** The end of a participant or of the room, which another node may have told while this one stood still. */
  #tellOnce(id: string, type: 'conf_leave' | 'conf_end', data: ConferenceEventData, userId?: string): void {
    const elsewhere = this.#services.farewells?.endedElsewhere(id) ?? false;
    this.#services.farewells?.over(id);
    tellOnce(elsewhere, this.#made(type, data, userId));
  }

  /** @param userId of the participant, who may have left */
  #tell(type: ConferenceEventType, data: ConferenceEventData = {}, userId?: string): void {
    this.#made(type, data, userId)();
  }

  /** The event, for those who follow the room now. */
  #made(type: ConferenceEventType, data: ConferenceEventData, userId?: string): () => void {
    const users = new Set(this.#room.users());
    if (userId !== undefined) users.add(userId);
    return () => this.#services.events.emit(this.#room.address.domain, type, { ...this.#names(), ...data }, [...users]);
  }

  #names() {
    const { confid, address } = this.#room;
    return { confid, confroomnum: address.confroomnum, uri: address.uri };
  }
}

function about({ participantid, callid, line, admission }: Participant) {
  return { participantid, callid, dialogid: line?.dialogid ?? '', ruri: admission.guest.ruri };
}
