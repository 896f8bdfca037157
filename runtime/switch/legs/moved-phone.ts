/** A phone on its way from node to node: what the next node must know of it. Plain JSON. */
import type { HomeOf } from '../../callstore/index.ts';
import type { SdpOrigin } from '../../signalling/index.ts';
import type { FarPhones } from '../lines/far-phones.ts';
import type { MovedDialog, MovedInvite } from '../lines/line.ts';
import type { CallingLeg } from './leg.ts';
import type { Party } from './party.ts';
import type { ShownCaller } from './shown-caller.ts';

export interface MovedPhone extends HomeOf {
  readonly callid: string;
  readonly party: Party;
  readonly shownAs?: ShownCaller | undefined;
  readonly allowEvents: readonly string[];
  /** Exactly one of the two. */
  readonly invite?: MovedInvite;
  readonly dialog?: MovedDialog;
}

/** A leg whose call can go to another node. Its SIP dialog stays where it is. */
export interface MovableLeg extends CallingLeg {
  /** Prepares the leg for its way; `takeBack`, `leave` or `drop` follows. @throws MediaError for one that cannot go */
  lend(phones: FarPhones): Promise<MovedPhone>;
  /**
   * The other node has not taken the call over.
   * @param at where the SIP dialog is
   * @param description of the other node's session with the phone; undefined: the phone still has that of this leg
   * @throws MediaError when the phone does not take the session of this leg again; errors of its home
   */
  takeBack(phones: FarPhones, at: HomeOf, description: SdpOrigin | undefined): Promise<void>;
  /** The call goes on at the other node: nothing is sent to the phone. */
  leave(): void;
  /** The leg is lost: its phone is released, as far as it can be reached. */
  drop(reason: string): void;
}
