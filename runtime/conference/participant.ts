/** A participant of a room. */
import { randomBytes } from 'node:crypto';
import type { DomainName } from '../domain-name/index.ts';
import type { ParticipantView } from '../callstore/index.ts';
import type { MediaEndpoint } from '../media/index.ts';
import { mayBecome, type SeatState } from './state.ts';

/** A participant as known to the switch. */
export interface Guest {
  /** `<sip:USERNAME@DOMAIN>` */
  readonly ruri: string;
  /** All URIs; a sipuser has two. */
  uris(): readonly string[];
  /** Id of the user who owns the account. */
  readonly userId: string | undefined;
}

export interface Admission {
  readonly guest: Guest;
  /** True: called from the room; false: dialled in, or was transferred. */
  readonly invited: boolean;
  /** True: must enter the room's PIN before becoming a participant. */
  readonly asksPin: boolean;
  readonly moderator: boolean;
  /** True: listens without being heard. */
  readonly muted: boolean;
  /** True for a scenario, which does not keep the room alive. */
  readonly scenario?: boolean;
}

/** The room's interface for its participants. */
export interface Host {
  readonly uri: string;
  /** The participant's call exists or is being set up. */
  lined(participant: Participant): void;
  changed(participant: Participant, before: SeatState): void;
  connect(participant: Participant, endpoint: MediaEndpoint): Promise<void>;
  disconnect(participant: Participant): Promise<void>;
  held(participant: Participant): void;
  /** @param before the former state; now `disconnected` */
  over(participant: Participant, before: SeatState, reason: string, lastResponse: string | undefined): void;
}

/** The participant's dialog, as seen by the room. */
export interface Line {
  readonly dialogid: string;
  /** The scenario's dialog whose call to the room this is; its selectors find the room, too. */
  readonly through?: string | undefined;
  /** Ends it: BYE, or CANCEL while ringing. */
  hangUp(reason: string): void;
}

/**
 * One participant of a room, and the room's side of the call: the switch reports the call's state, the room decides who
 * hears whom.
 */
export class Participant {
  readonly participantid = randomBytes(6).toString('hex');
  /**
   * Call-ID of the leg between the call-processing role and the conference, made here because both roles are in this
   * node.
   */
  readonly callid: string;
  readonly admission: Admission;
  readonly #host: Host;
  readonly #ltag = randomBytes(6).toString('hex');
  readonly #rtag = randomBytes(6).toString('hex');
  #state: SeatState;
  #line: Line | undefined;
  #held = false;
  #over = false;

  constructor(host: Host, domain: DomainName, admission: Admission) {
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

  /** True while the phone holds the conference, or the call is being transferred. */
  get held(): boolean {
    return this.#held;
  }

  /** The present or future call. */
  set line(line: Line) {
    this.#line = line;
    this.#host.lined(this);
  }

  /** The invited party's phone rings. */
  ringing(): void {
    this.become('ringing');
  }

  /**
   * The call was answered: enters the mix, after the PIN if required.
   * @throws MediaError
   */
  connect(endpoint: MediaEndpoint): Promise<void> {
    return this.#host.connect(this, endpoint);
  }

  /** Takes the call out of the mix and frees its endpoint. */
  disconnect(): Promise<void> {
    return this.#host.disconnect(this);
  }

  setHeld(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#host.held(this);
  }

  /**
   * The call has ended or failed. Idempotent.
   * @param lastResponse status line of an invited party's refusal
   */
  over(reason: string, lastResponse?: string): void {
    if (this.#over) return;
    this.#over = true;
    const before = this.#state;
    this.#state = 'disconnected';
    this.#host.over(this, before, reason, lastResponse);
  }

  /** Changes the state, if the transition is permitted. */
  become(state: SeatState): boolean {
    const before = this.#state;
    if (!mayBecome(before, state)) return false;
    this.#state = state;
    this.#host.changed(this, before);
    return true;
  }

  /** The participant for REST clients; undefined until the PIN is accepted. */
  view(): Omit<ParticipantView, 'moderator' | 'talking'> | undefined {
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
