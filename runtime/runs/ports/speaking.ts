/** Options of spoken texts. */

export interface SayOptions {
  readonly signal: AbortSignal;
  /** BCP 47 tag, e.g. `en-GB`; undefined: the node's. */
  readonly language?: string;
  /** A voice by the speech engine's name. */
  readonly voice?: string;
  /** A digit of this set ends the speech and is returned. */
  readonly stopDigits?: string;
}
