import type { Participant } from '../conference/participant.ts';
import type { Room } from '../conference/room.ts';
import type { MediaEndpoint } from '../media/endpoint.ts';
import type { CallingLeg, EndCause, LegOwner } from './leg.ts';
import type { SoundPath } from './media-path.ts';
import type { Party } from './party.ts';

/** A conference's side of a dialog. It has no endpoint: it takes the other side's into the mix. */
export class ConferenceLeg implements CallingLeg {
  readonly callid: string;
  readonly party: Party;
  readonly endpoint = undefined;
  readonly held = false;
  readonly room: Room;
  readonly participant: Participant;
  owner: LegOwner | undefined;
  #ended = false;

  constructor(room: Room, participant: Participant) {
    const { domain, number } = room.address;
    this.room = room;
    this.participant = participant;
    this.callid = participant.callid;
    this.party = { kind: 'conference', domain, number };
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The way of the other side's sound into the conference. */
  pathFor(endpoint: MediaEndpoint): SoundPath {
    return new ConferencePath(this.participant, endpoint);
  }

  /** The call by which the participant is connected; the room can end it from now on. */
  connectedBy(dialogid: string): void {
    this.participant.line = { dialogid, hangUp: (reason) => this.owner?.legRemoved(this, reason) };
  }

  release(cause: EndCause): void {
    if (this.#ended) return;
    this.#ended = true;
    this.participant.over(cause.reason, cause.by === 'failure' ? `SIP/2.0 ${cause.status} ${cause.reason}` : undefined);
  }

  ring(): void {
    this.participant.ringing();
  }

  prepareMedia(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  earlyMedia(): void {
    // A room hears whoever has answered.
  }

  answered(): Promise<void> {
    return Promise.resolve();
  }
}

/** The sound between a phone's endpoint and a conference. */
class ConferencePath implements SoundPath {
  readonly #participant: Participant;
  readonly #endpoint: MediaEndpoint;

  constructor(participant: Participant, endpoint: MediaEndpoint) {
    this.#participant = participant;
    this.#endpoint = endpoint;
  }

  connect(): Promise<void> {
    return this.#participant.connect(this.#endpoint);
  }

  disconnect(): Promise<void> {
    return this.#participant.disconnect();
  }

  /** Whoever holds stays in the mix: he comes back without delay, and meanwhile is not heard. */
  setHeld(_by: MediaEndpoint, held: boolean): Promise<void> {
    this.#participant.setHeld(held);
    return this.connect();
  }
}
