import type { CallPort, Transfer, TransferOptions } from '../call-port.ts';
import { withAbility } from './capability.ts';

export interface EnterOptions extends TransferOptions {
  /** Digits of a room of the domain's conference featurecode, or a whole number with its featurecode; empty: a fresh room. */
  readonly room: string;
  readonly moderator: boolean;
  /** The other party listens and is not heard. */
  readonly muted: boolean;
}

/** The room that somebody got into. */
export interface EnteredRoom {
  readonly confid: string;
  /** Featurecode and room number: what others dial. */
  readonly number: string;
  readonly participantid: string;
}

/** The way of the opponent into a room. The promises never reject. */
export interface RoomTransfer extends Transfer {
  /** Undefined when the room is full, or there is none of that number. */
  readonly room: EnteredRoom | undefined;
}

/** A call whose other party can be brought into a conference. */
export interface ConferringCall {
  /**
   * Transfers the opponent into a room, past its PIN; only in state `connected`. After a 2xx the scenario's own dialog is
   * over; after a failure the opponent is the scenario's again.
   */
  enterRoom(options: EnterOptions): RoomTransfer;
}

/** @throws ScenarioError code `unavailable` */
export function conferringCall(call: CallPort): CallPort & ConferringCall {
  return withAbility<ConferringCall>(call, ['enterRoom'], 'enter conferences');
}
