/** Events of one room. */
import type { Participant } from './participant.ts';
import type { ConferenceEventData, ConferenceEvents, ConferenceEventType } from './ports.ts';
import type { RoomAddress } from './room-address.ts';
import type { HearingChange } from './topology.ts';

interface EventRoom {
  readonly confid: string;
  readonly address: RoomAddress;
  /** Ids of the users who take part. */
  users(): ReadonlySet<string>;
}

/** Publishes the events of one room. */
export class RoomEvents {
  readonly #events: ConferenceEvents;
  readonly #room: EventRoom;

  constructor(events: ConferenceEvents, room: EventRoom) {
    this.#events = events;
    this.#room = room;
  }

  started(): void {
    this.#tell('conf_start');
  }

  ended(): void {
    this.#tell('conf_end');
  }

  joined(participant: Participant, moderator: boolean): void {
    this.#about('conf_join', participant, { moderator });
  }

  left(participant: Participant, reason: string, lastResponse: string | undefined): void {
    this.#about('conf_leave', participant, {
      reason,
      ...(lastResponse === undefined ? {} : { last_response: lastResponse }),
    });
  }

  state(participant: Participant): void {
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

  #about(type: ConferenceEventType, participant: Participant, data: ConferenceEventData): void {
    const { participantid, callid, admission, line } = participant;
    const about = { participantid, callid, dialogid: line?.dialogid ?? '', ruri: admission.guest.ruri };
    this.#tell(type, { ...about, ...data }, admission.guest.userId);
  }

  /** @param userId of the participant, who may have left */
  #tell(type: ConferenceEventType, data: ConferenceEventData = {}, userId?: string): void {
    const { confid, address } = this.#room;
    const { domain, confroomnum, uri } = address;
    const users = new Set(this.#room.users());
    if (userId !== undefined) users.add(userId);
    this.#events.emit(domain, type, { confid, confroomnum, uri, ...data }, [...users]);
  }
}
