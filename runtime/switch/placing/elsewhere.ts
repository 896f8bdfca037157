/** The calls and rooms of the other nodes, as the parts of the switch reach them. Absent on a single node. */
import type { DomainName } from '../../domain-name/index.ts';
import type { RouteDecision } from '../../domain/index.ts';
import type { DialogSide } from '../../runs/index.ts';
import type { Replaces } from '../../signalling/index.ts';
import type { CallingLeg } from '../legs/leg.ts';
import type { Party } from '../legs/party.ts';
import type { Attempt, AttemptOptions } from './attempt.ts';
import type { CarriedState } from '../dialogs/carried-state.ts';
import type { CallRef } from '../dialogs/dialog-book.ts';
import type { JoinErrand, Outcome } from './errands.ts';
import type { InviteLine } from '../lines/line.ts';

/** The call of another node whose phone a Replaces names. */
export interface ReplacedElsewhere {
  readonly node: string;
  readonly dialogid: string;
  readonly side: 'a' | 'b';
  readonly ringing: boolean;
  /** Id of the account of the named phone, if it has one. */
  readonly account?: string;
}

/** A party that another node gives to this one. */
export interface FetchedParty {
  readonly leg: CallingLeg;
  readonly carried: CarriedState;
  /** Its former peer. */
  readonly from: Party | undefined;
}

export interface Elsewhere {
  /** Calls a room, whichever node has it. The first caller makes it at this node. */
  callRoom(decision: RouteDecision & { readonly kind: 'conference' }, options: AttemptOptions): Attempt;
  /** Calls a scenario at another node. */
  callScenario(decision: RouteDecision & { readonly kind: 'scenario' }, options: AttemptOptions): Attempt;
  /** Picks up the call that has been ringing longest, whichever node has it. */
  pickUp(decision: RouteDecision & { readonly kind: 'pickup' }, options: AttemptOptions): Attempt;
  /** The call of another node that has the phone of a Replaces. @throws while NATS is away */
  findReplaced(replaces: Replaces, domain: DomainName): Promise<ReplacedElsewhere | undefined>;
  /** Hands an INVITE with Replaces to the node that has the call; 481 without one. */
  replace(party: Party, invite: InviteLine, replaces: { readonly wanted: Replaces; readonly value: string }): void;
  /** The node that has this dialog; undefined: none of the others. @throws while NATS is away */
  ownerOf(dialogid: string): Promise<string | undefined>;
  /**
   * Lets the peer of the named phone enter a room, from its own node. Never rejects.
   * @returns the room's answer
   */
  bringIn(
    there: Pick<ReplacedElsewhere, 'node' | 'dialogid' | 'side'>,
    room: { readonly domain: DomainName; readonly number: string; readonly referredBy: string },
  ): Attempt;
  /**
   * Sends a party to be joined with one of another node. It is in no dialog meanwhile.
   * @throws MediaError for a party that cannot go
   */
  join(node: string, opponent: CallingLeg, errand: Omit<JoinErrand, 'errand'>): Promise<Outcome>;
  /**
   * Gets a party of a call of another node.
   * @param use puts it into a call of this node; when that fails, the party stays in its own
   * @returns the status of a refusal: 481, 487 or 488
   */
  fetch<Call extends CallRef>(
    node: string,
    wanted: { readonly side: DialogSide; readonly domain: DomainName; readonly waits: boolean },
    use: (party: FetchedParty) => Promise<Call>,
  ): Promise<Call | number>;
}
