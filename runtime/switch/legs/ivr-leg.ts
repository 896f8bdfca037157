/** The leg of a scenario. */
import { randomUUID } from 'node:crypto';
import { DtmfSender } from './dtmf-sender.ts';
import type { CallingLeg, EndCause, Leg, LegOwner, PhoneMessage } from './leg.ts';
import type { CallFacts } from '../../callstore/index.ts';
import type { Party } from './party.ts';

/** What a scenario's leg reports to the scenario's call, and asks of it. */
export interface IvrLegEvents {
  /** Called once, when another party ends the leg. */
  released(cause: EndCause): void;
  /** The other party holds or resumes the call. */
  held(held: boolean): void;
  /** The other party's phone sent a request within the call. */
  messaged(message: PhoneMessage): void;
  /** The leg has a new other party: the old one transferred the call, or was replaced. */
  peerChanged(): void;
  /** Another dialog takes the other party: its media must be free when this settles. */
  quiet(): Promise<void>;
  /** Digits for the scenario, which arrive as if the other party had pressed them. */
  digits(digits: string): Promise<void>;
  /** Aborted when the scenario's call is over. */
  readonly gone: AbortSignal;
}

/** A scenario's side of a dialog. It has no media of its own: it plays to, and listens to, the other side's endpoint. */
export class IvrLeg implements CallingLeg {
  readonly callid: string;
  readonly party: Party;
  readonly endpoint = undefined;
  readonly mediaServer = undefined;
  readonly held = false;
  owner: LegOwner | undefined;
  shownAs: CallingLeg['shownAs'];
  about: Leg['about'];
  /** Id of the operation whose scenario this is. */
  operation: string | undefined;
  readonly dtmf: DtmfSender;
  readonly #events: IvrLegEvents;
  #released = false;

  constructor(party: Party, events: IvrLegEvents) {
    this.callid = `${randomUUID()}@${party.domain}`;
    this.party = party;
    this.#events = events;
    this.dtmf = new DtmfSender(
      (digits) => events.digits(digits),
      () => events.gone,
    );
  }

  /** The operation that makes the calls of this leg. */
  get madeBy(): CallFacts['operation'] {
    return this.operation === undefined ? undefined : { id: this.operation, domain: this.party.domain };
  }

  get ended(): boolean {
    return this.#released || this.#events.gone.aborted;
  }

  release(cause: EndCause): void {
    if (this.#released) return;
    this.#released = true;
    this.#events.released(cause);
  }

  peerHeld(held: boolean): void {
    this.#events.held(held);
  }

  peerMessaged(message: PhoneMessage): void {
    this.#events.messaged(message);
  }

  peerChanged(): void {
    this.#events.peerChanged();
  }

  quiet(): Promise<void> {
    return this.#events.quiet();
  }

  ring(): void {
    // A scenario follows the SIP answers to its call.
  }

  prepareMedia(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  earlyMedia(): boolean {
    // A scenario hears nothing before it plays or listens.
    return false;
  }

  answered(): Promise<void> {
    return Promise.resolve();
  }
}
