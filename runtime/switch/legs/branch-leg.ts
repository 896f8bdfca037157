/** The leg of a ringing contact. */
import type { DialogTags } from '../../signalling/index.ts';
import type { Device, EndCause, LegOwner } from './leg.ts';
import type { Party } from './party.ts';

/** The device of a ringing contact, and its SIP dialogs. */
export interface RingingFar {
  readonly device: Device;
  tags(): readonly DialogTags[];
}

/** The leg of a called contact that has not answered. It can only be given up. */
export class BranchLeg {
  readonly callid: string;
  readonly party: Party;
  readonly endpoint = undefined;
  readonly mediaServer = undefined;
  readonly held = false;
  owner: LegOwner | undefined;
  readonly #far: RingingFar | undefined;
  readonly #giveUp: () => void;

  constructor(callid: string, party: Party, giveUp: () => void, far?: RingingFar) {
    this.callid = callid;
    this.party = party;
    this.#giveUp = giveUp;
    this.#far = far;
  }

  get device(): Device | undefined {
    return this.#far?.device;
  }

  get tags(): readonly DialogTags[] {
    return this.#far?.tags() ?? [];
  }

  release(_cause: EndCause): void {
    this.#giveUp();
  }
}
