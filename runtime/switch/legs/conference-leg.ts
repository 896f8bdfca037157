import type { Participant, Room } from '../../conference/index.ts';
import { type EndpointServer, type MediaEndpoint, MediaError } from '../../media/index.ts';
import type { CallingLeg, EndCause, Leg, LegOwner } from './leg.ts';
import type { SoundPath } from '../sound/media-path.ts';
import type { Party } from './party.ts';
import type { EndpointPair } from '../sound/endpoint-pair.ts';

/**
 * A conference's side of a dialog. It has no endpoint: it takes the other side's endpoint into the mix. A scenario on the
 * other side has none either, so there the conference has a voice: a pair of endpoints.
 */
export class ConferenceLeg implements CallingLeg {
  readonly callid: string;
  readonly party: Party;
  readonly held = false;
  readonly room: Room;
  readonly participant: Participant;
  owner: LegOwner | undefined;
  readonly #makeVoice: ((leg: ConferenceLeg) => Promise<EndpointPair>) | undefined;
  #opening: Promise<EndpointPair> | undefined;
  #voice: EndpointPair | undefined;
  #ended = false;

  /** @param makeVoice opens the endpoints for a call to a scenario */
  constructor(room: Room, participant: Participant, makeVoice?: (leg: ConferenceLeg) => Promise<EndpointPair>) {
    this.#makeVoice = makeVoice;
    const { domain, number } = room.address;
    this.room = room;
    this.participant = participant;
    this.callid = participant.callid;
    this.party = { kind: 'conference', domain, number };
  }

  /** What a scenario on the other side plays to and listens to. */
  get endpoint(): MediaEndpoint | undefined {
    return this.#voice?.one;
  }

  /** True when it has a voice, so that the other side may be a scenario. */
  get speaks(): boolean {
    return this.#makeVoice !== undefined;
  }

  get mediaServer(): EndpointServer {
    return this.room.mediaServer;
  }

  get about(): Leg['about'] {
    return { conference: { confid: this.room.confid, room: this.room.address.confroomnum } };
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The path of the other side's sound into the conference. */
  pathFor(endpoint: MediaEndpoint): SoundPath {
    return new ConferencePath(this.participant, endpoint);
  }

  /** Names the participant's call. The room can end it from now on. */
  connectedBy(dialogid: string, through?: string): void {
    this.participant.line = { dialogid, through, hangUp: (reason) => this.owner?.legRemoved(this, reason) };
  }

  release(cause: EndCause): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#voice?.close();
    const refusal =
      cause.by === 'failure' && isCalled(this.participant) ? `SIP/2.0 ${cause.status} ${cause.reason}` : undefined;
    this.participant.over(cause.reason, refusal);
  }

  ring(): void {
    this.participant.ringing();
  }

  async prepareMedia(on?: EndpointServer): Promise<MediaEndpoint | undefined> {
    if (on !== undefined && on !== this.mediaServer) throw new MediaError('a conference cannot move', 488);
    if (this.#makeVoice === undefined) return undefined;
    this.#opening ??= this.#makeVoice(this);
    const voice = await this.#opening;
    if (this.#voice === undefined) this.#use(voice);
    return voice.one;
  }

  earlyMedia(): boolean {
    // A conference hears participants only after their answer.
    return false;
  }

  async answered(): Promise<void> {
    const voice = await this.#opening;
    if (voice !== undefined) await this.participant.connect(voice.other);
  }

  #use(voice: EndpointPair): void {
    this.#voice = voice;
    if (this.#ended) voice.close();
    const lost = () => {
      if (this.#ended) return;
      this.release({ by: 'failure', status: 500, reason: 'Media Lost' });
      this.owner?.legEnded(this, 'media lost', true);
    };
    for (const { gone } of [voice.one, voice.other]) gone.addEventListener('abort', lost, { once: true });
  }
}

/** True for an invited party before its answer. */
function isCalled({ state }: Participant): boolean {
  return state === 'calling' || state === 'ringing';
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

  /** A participant that holds the call stays in the mix, unheard, and so resumes without delay. */
  setHeld(_by: MediaEndpoint, held: boolean): Promise<void> {
    this.#participant.setHeld(held);
    return this.connect();
  }
}
