import type { Transfer, TransferOptions } from '../call-values.ts';

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
