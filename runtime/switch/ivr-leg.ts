import { randomUUID } from 'node:crypto';
import type { CallingLeg, EndCause, LegOwner } from './leg.ts';
import type { Party } from './party.ts';

/** A scenario's side of a dialog. It has no media of its own: it plays to, and listens to, the other side's endpoint. */
export class IvrLeg implements CallingLeg {
  readonly callid: string;
  readonly party: Party;
  readonly endpoint = undefined;
  readonly held = false;
  owner: LegOwner | undefined;
  readonly #onRelease: (cause: EndCause) => void;
  readonly #onHeld: (held: boolean) => void;
  #released = false;

  /**
   * @param onRelease called once, when somebody else ends the leg
   * @param onHeld the other party holds the call, or takes it back
   */
  constructor(party: Party, onRelease: (cause: EndCause) => void, onHeld: (held: boolean) => void) {
    this.#onHeld = onHeld;
    this.callid = `${randomUUID()}@${party.domain}`;
    this.party = party;
    this.#onRelease = onRelease;
  }

  get ended(): boolean {
    return this.#released;
  }

  release(cause: EndCause): void {
    if (this.#released) return;
    this.#released = true;
    this.#onRelease(cause);
  }

  peerHeld(held: boolean): void {
    this.#onHeld(held);
  }

  ring(): void {
    // A scenario follows the answers to its call, not a tone.
  }

  prepareMedia(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  earlyMedia(): void {
    // Heard by nobody: a scenario has no ears before it plays or listens.
  }

  answered(): Promise<void> {
    return Promise.resolve();
  }
}

/** A called contact that has not answered yet: all there is of it is the way to give it up. */
export class BranchLeg {
  readonly callid: string;
  readonly party: Party;
  readonly endpoint = undefined;
  readonly held = false;
  owner: LegOwner | undefined;
  readonly #giveUp: () => void;

  constructor(callid: string, party: Party, giveUp: () => void) {
    this.callid = callid;
    this.party = party;
    this.#giveUp = giveUp;
  }

  release(_cause: EndCause): void {
    this.#giveUp();
  }
}
