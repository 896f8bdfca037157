/** The way of a scenario's opponent into a conference room. */
import type { Transfer, TransferOptions } from '../call-values.ts';

export interface EnterOptions extends TransferOptions {
  /** Digits of a room of the domain's conference featurecode, or the number with its featurecode; empty: a new room. */
  readonly room: string;
  readonly moderator: boolean;
  /** The other party listens, muted. */
  readonly muted: boolean;
}

/** The joined room. */
export interface EnteredRoom {
  readonly confid: string;
  /** Featurecode and room number, for dialling. */
  readonly number: string;
  readonly participantid: string;
}

/** A transfer of the opponent into a room in progress. The promises never reject. */
export interface RoomTransfer extends Transfer {
  /** Undefined for a full or unknown room. In a cluster it is known with the final answer. */
  readonly room: EnteredRoom | undefined | Promise<EnteredRoom | undefined>;
}
