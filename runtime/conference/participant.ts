import { randomBytes } from 'node:crypto';
import type { ParticipantView } from '../callstore/index.ts';
import type { MediaEndpoint } from '../media/index.ts';
import { mayBecome, type SeatState } from './state.ts';

/** Who takes part, as the switch knows him. */
export interface Guest {
  /** `<sip:USERNAME@DOMAIN>` */
  readonly ruri: string;
  /** All his URIs; a sipuser has two. */
  uris(): readonly string[];
}

export interface Admission {
  readonly guest: Guest;
  /** He was called; else he came by himself or was brought. */
  readonly invited: boolean;
  /** He has to give the room's PIN before he is a participant. */
  readonly asksPin: boolean;
  readonly moderator: boolean;
  /** He listens and is not heard. */
  readonly muted: boolean;
  /** A scenario: the room does not go on for its sake. */
  readonly scenario?: boolean;
}

/** The room, as its participants see it. */
export interface Host {
  readonly uri: string;
  /** The call by which he is connected is there, or on its way. */
  lined(participant: Participant): void;
  changed(participant: Participant, before: SeatState): void;
  connect(participant: Participant, endpoint: MediaEndpoint): Promise<void>;
  disconnect(participant: Participant): Promise<void>;
  held(participant: Participant): void;
  /** @param before what he was; `disconnected` now */
  over(participant: Participant, before: SeatState, reason: string, lastResponse: string | undefined): void;
}

/** The dialog by which a participant is connected, as the room sees it. */
export interface Line {
  readonly dialogid: string;
  /** Ends it: BYE, or CANCEL while it rings. */
  hangUp(reason: string): void;
}

/**
 * One participant of a room, and the room's side of his call: the switch tells what becomes of the call, the room who
 * hears whom.
 */
export class Participant {
  readonly participantid = randomBytes(6).toString('hex');
  /** Of the leg between the call-processing role and the conference; both roles are in this node, so it is made here. */
  readonly callid: string;
  readonly admission: Admission;
  readonly #host: Host;
  readonly #ltag = randomBytes(6).toString('hex');
  readonly #rtag = randomBytes(6).toString('hex');
  #state: SeatState;
  #line: Line | undefined;
  #held = false;
  #over = false;

  constructor(host: Host, domain: string, admission: Admission) {
    this.#host = host;
    this.admission = admission;
    this.callid = `${randomBytes(16).toString('hex')}@${domain}`;
    this.#state = admission.asksPin ? 'entering' : 'calling';
  }

  get state(): SeatState {
    return this.#state;
  }

  get line(): Line | undefined {
    return this.#line;
  }

  /** True while his phone holds the conference, or he is on his way elsewhere. */
  get held(): boolean {
    return this.#held;
  }

  /** The call by which he is, or will be, connected. */
  set line(line: Line) {
    this.#line = line;
    this.#host.lined(this);
  }

  /** An invited party's phone rings. */
  ringing(): void {
    this.become('ringing');
  }

  /**
   * The call is answered: into the mix with it. Asks for the PIN first where that has to be.
   * @throws MediaError
   */
  connect(endpoint: MediaEndpoint): Promise<void> {
    return this.#host.connect(this, endpoint);
  }

  /** Takes the call out of the mix; its endpoint is free afterwards. */
  disconnect(): Promise<void> {
    return this.#host.disconnect(this);
  }

  setHeld(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#host.held(this);
  }

  /**
   * The call is over, or never came to be. Idempotent.
   * @param lastResponse status line of the refusal of an invited party
   */
  over(reason: string, lastResponse?: string): void {
    if (this.#over) return;
    this.#over = true;
    const before = this.#state;
    this.#state = 'disconnected';
    this.#host.over(this, before, reason, lastResponse);
  }

  /** Goes to another state, where that is possible from the one he is in. */
  become(state: SeatState): boolean {
    const before = this.#state;
    if (!mayBecome(before, state)) return false;
    this.#state = state;
    this.#host.changed(this, before);
    return true;
  }

  /** As REST callers read him; undefined while he is not a participant yet. */
  view(): ParticipantView | undefined {
    if (this.#state === 'entering') return undefined;
    return {
      participantid: this.participantid,
      state: this.#state,
      callid: this.callid,
      luri: this.#host.uri,
      ltag: this.#ltag,
      ruri: this.admission.guest.ruri,
      rtag: this.#rtag,
    };
  }
}
