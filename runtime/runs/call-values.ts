/** Parameters and results of the operations of a call. */
import type { DomainName } from '../domain-name/index.ts';
import type { CallEnder, PlaySource } from '../language/index.ts';

/** One party of a call, in terms of the domain. */
export interface PartyInfo {
  /** Phone number; the user part of the URI when the party is not a sipuser. */
  readonly number: string;
  /** Login; undefined when the party is not a sipuser. */
  readonly login: string | undefined;
  readonly name: string | undefined;
  /** What the signature of its call is worth, where that was checked. */
  readonly verstat?: string;
  readonly domain: DomainName;
  /** `<sip:USERNAME@DOMAIN>` */
  readonly uri: string;
}

/** A SIP answer to a call that the scenario started (RFC 3261 section 7.2). */
export interface Answer {
  readonly status: number;
  readonly reason: string;
  /** The status line, e.g. `SIP/2.0 486 Busy Here`. */
  readonly line: string;
  /** True when this node made the answer itself, without one from the far end (408 after a time-out, 503, ...). */
  readonly local: boolean;
  /** The called phone was unreachable; implies `local`. */
  readonly unreached?: boolean;
}

export interface PlayOptions {
  readonly signal: AbortSignal;
  /** A digit of this set ends the playback and is returned; empty or absent: digits do not interrupt. */
  readonly stopDigits?: string;
  /** Repetitions of the whole list; `Infinity`: until stopped. Default 1. */
  readonly repeat?: number;
}

export interface PlayResult {
  readonly digit: string | undefined;
  readonly milliseconds: number;
}

export interface RingbackOptions {
  readonly signal: AbortSignal;
  /** Played over and over; undefined: the ringback tone. */
  readonly sounds?: readonly PlaySource[] | undefined;
}

export interface CollectOptions {
  readonly signal: AbortSignal;
  /** Played first; the first digit interrupts it. */
  readonly prompt?: readonly PlaySource[];
  readonly min: number;
  readonly max: number;
  /** Milliseconds without any digit after the prompt. */
  readonly timeoutMs: number;
  /** Milliseconds between two digits. */
  readonly interDigitMs: number;
  /** Digits that end the input without being part of it, e.g. `#`. */
  readonly terminators: string;
  /** Nothing may show the digits. */
  readonly sensitive?: boolean;
}

export interface CollectResult {
  readonly digits: string;
  /** `complete`: max reached or a timeout after at least min digits; `terminator`; `timeout`: fewer than min digits. */
  readonly reason: 'complete' | 'terminator' | 'timeout';
  readonly terminator: string | undefined;
}

/** An outgoing call in progress. The promises never reject: a failure is an answer. */
export interface OutgoingCall {
  /** Call-ID of the calling side of the new dialog. */
  readonly callid: string;
  readonly dialogid: string;
  /** First provisional answer (100-199); the final answer without one. */
  readonly provisional: Promise<Answer>;
  readonly final: Promise<Answer>;
}

/** One side of a live dialog of the domain. */
export interface DialogSide {
  readonly dialogid: string;
  readonly side: 'a' | 'b';
}

/** A label for the new dialog, beside the inherited labels. */
export interface LabelOption {
  readonly binding?: string;
}

/** Options of a transfer. */
export interface TransferOptions extends LabelOption {
  /** Address of the transferring party: the header Referred-By of the new call (RFC 3892). */
  readonly referredBy?: string;
}

export interface TakeOverOptions extends LabelOption {
  /**
   * State of the party that stays behind. `waits`: for another scenario that takes it over too. `held`: until the taken
   * party returns (`ReferOptions.back`) or its call with the scenario ends. Default: `released`.
   */
  readonly other?: 'released' | 'waits' | 'held';
}

/** A transfer of the scenario's opponent to a new target (RFC 3515 semantics). The promises never reject. */
export interface Transfer {
  /** Call-ID of the A leg of the target dialog (the transferred party). */
  readonly acallid: string;
  /** The target dialog: opponent -> target. */
  readonly dialogid: string;
  /** First provisional answer above 100 (101-199) of the target; the final answer without one. */
  readonly provisional: Promise<Answer>;
  /**
   * Final answer of the target. A 2xx ends the scenario's own dialog. After a failure the opponent is back in the
   * scenario, unless it hung up (status 487).
   */
  readonly final: Promise<Answer>;
}

/** The reason of the call's end for the scenario. */
export interface CallEnd {
  readonly by: CallEnder;
  readonly reason: string;
}
