/**
 * The call as a scenario sees it. The switch implements it over SIP and media; a simulation implements it over a
 * scripted caller. Components know this interface only, so that the same component code runs in both.
 */
import type { CallEnder, CallState, PlaySource } from '../language/call-words.ts';

/** One party of a call, as the domain knows it. */
export interface PartyInfo {
  /** Phone number, or the user part of the URI when the party is no sipuser. */
  readonly number: string;
  /** Login of the sipuser, when the party is one. */
  readonly login: string | undefined;
  readonly name: string | undefined;
  readonly domain: string;
  /** `<sip:USERNAME@DOMAIN>` */
  readonly uri: string;
}

/** A SIP answer to a call that the scenario started (RFC 3261 section 7.2). */
export interface Answer {
  readonly status: number;
  readonly reason: string;
  /** The status line, e.g. `SIP/2.0 486 Busy Here`. */
  readonly line: string;
  /** True when nothing came from the far end and this node made the answer itself (408 after a time-out, 503, ...). */
  readonly local: boolean;
  /** The called phone could not be reached at all; `local` then. */
  readonly unreached?: boolean;
}

export interface PlayOptions {
  readonly signal: AbortSignal;
  /** A digit out of this set ends the playback and is returned; empty or absent: digits do not interrupt. */
  readonly stopDigits?: string;
  /** How often the whole list is played; `Infinity` until stopped. Default 1. */
  readonly repeat?: number;
}

export interface PlayResult {
  readonly digit: string | undefined;
  readonly milliseconds: number;
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
  /** Digits that end the input and are not part of it, e.g. `#`. */
  readonly terminators: string;
}

export interface CollectResult {
  readonly digits: string;
  /** `complete`: max reached or a timeout after at least min digits; `terminator`; `timeout`: fewer than min digits. */
  readonly reason: 'complete' | 'terminator' | 'timeout';
  readonly terminator: string | undefined;
}

export interface DialOptions {
  /** Number (mode number) or sipuser login (mode sipuser) of the called party; a DTMF tail may follow `'` or `,`. */
  readonly to: string;
  readonly mode: 'number' | 'sipuser';
  /** Number shown to the called party. */
  readonly callerId: string;
  readonly callerName: string;
  readonly timeoutMs: number;
  /** Route through the domain's intercom featurecode, so that the device answers by itself. */
  readonly useIntercom: boolean;
  readonly binding?: string;
  /** Extra INVITE headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How digits go to the called party, by the tail of `to` or by the scenario; default `rfc2833`. */
  readonly dtmfProto?: 'rfc2833' | 'sipinfo';
  readonly preAnswer?: PreAnswer;
}

/**
 * Serves the called party once it has picked up and before it is connected, over a call of its own, which is left as it
 * is; false when it is not to be connected after all: it is released, and the final answer is 603. Never rejects.
 */
export type PreAnswer = (called: CallPort) => Promise<boolean>;

/** A call on its way. The promises never reject: a failure is an answer. */
export interface OutgoingCall {
  /** Call-ID of the calling side of the dialog this call builds. */
  readonly callid: string;
  readonly dialogid: string;
  /** First provisional answer (100-199); the final answer when there was none. */
  readonly provisional: Promise<Answer>;
  readonly final: Promise<Answer>;
}

export interface ReferOptions extends TransferOptions {
  /** Number of the transfer target; a DTMF tail may follow `'` or `,`. */
  readonly to: string;
  /** Whose number that is, when not the scenario's domain: only the way back to whom the party was taken from. */
  readonly domain?: string;
  /** Back to whoever `takeOver` left `held`, when still there, in the call that they had; nobody is called then. */
  readonly back?: boolean;
  /** Played to the transferred party until the target answers. Default: the ringback tone. */
  readonly ringback?: boolean;
  readonly timeoutMs?: number;
  readonly preAnswer?: PreAnswer;
}

/** One side of a live dialog of the domain. */
export interface DialogSide {
  readonly dialogid: string;
  readonly side: 'a' | 'b';
}

/** A label for the dialog that comes of it, beside those that it inherits. */
export interface LabelOption {
  readonly binding?: string;
}

/** What goes along with a transfer. */
export interface TransferOptions extends LabelOption {
  /** Who wants it, as an address: the header Referred-By of the call that it makes (RFC 3892). */
  readonly referredBy?: string;
}

export interface TakeOverOptions extends LabelOption {
  /**
   * What becomes of whoever the party talked to: `waits` for another scenario that takes it over too, or is `held` until the
   * taken party returns (`ReferOptions.back`) or its call with the scenario is over. Default: `released`.
   */
  readonly other?: 'released' | 'waits' | 'held';
}

/** A transfer of the scenario's opponent to a new target (RFC 3515 semantics). The promises never reject. */
export interface Transfer {
  /** Call-ID of the A leg of the target dialog (the transferred party). */
  readonly acallid: string;
  /** The target dialog: opponent -> target. */
  readonly dialogid: string;
  /** First provisional answer above 100 (101-199) of the target; the final answer when there was none. */
  readonly provisional: Promise<Answer>;
  /**
   * Final answer of the target. After a 2xx the scenario's own dialog is over; after a failure the opponent is the
   * scenario's again, unless it hung up (then status 487).
   */
  readonly final: Promise<Answer>;
}

/** Why the call ended for the scenario. */
export interface CallEnd {
  readonly by: CallEnder;
  readonly reason: string;
}

/** Whether that was not of the scenario's own doing. */
export function isInterruption({ by }: CallEnd): boolean {
  return by === 'opponent' || by === 'external' || by === 'taken';
}

/** What an author forgot. */
const STATE_TEXTS: Partial<Record<CallState, string>> = {
  none: 'there is no call; call somebody first',
  incoming: 'the call is incoming; answer it first',
};

/** A component asked something of a call that is not in a state for it, e.g. `play` after hang-up. */
export class CallStateError extends Error {
  override readonly name = 'CallStateError';
  readonly state: CallState;
  constructor(operation: string, state: CallState) {
    super(`${operation} is not possible: ${STATE_TEXTS[state] ?? `the call is ${state}`}`);
    this.state = state;
  }
}

/** The scenario's side of one call. Operations reject with CallStateError, or with the reason of their AbortSignal. */
export interface CallPort {
  /** Call-ID of the scenario's own party. */
  readonly callid: string;
  readonly state: CallState;
  readonly dialogid: string | undefined;
  readonly domain: string;
  /** Whoever is at the other end; undefined before `dial`. */
  readonly opponent: PartyInfo | undefined;
  /** Its side of the dialog; undefined without one. */
  readonly opponentSide: 'a' | 'b' | undefined;
  /** The number by which the scenario was reached. */
  readonly dialled: string | undefined;
  /** Aborted (reason: CallEnd) as soon as the call is over for the scenario. */
  readonly endSignal: AbortSignal;
  /** 180 Ringing to an incoming call. */
  ring(): Promise<void>;
  answer(): Promise<void>;
  reject(status: number, reason?: string): Promise<void>;
  hangup(): Promise<void>;
  play(sources: readonly PlaySource[], options: PlayOptions): Promise<PlayResult>;
  collect(options: CollectOptions): Promise<CollectResult>;
  /** Sends the caller's own voice back until the signal aborts or the call ends. */
  echo(signal: AbortSignal): Promise<void>;
  /** Starts the call to F. Returns at once; only in state `none`. */
  dial(options: DialOptions): OutgoingCall;
  /** Transfers the opponent; only in state `connected`. */
  refer(options: ReferOptions): Transfer;
  /**
   * Takes one side out of a live dialog, as an INVITE with Replaces would (RFC 3891): it becomes the opponent, and the
   * rest of that dialog ends. Only in state `none`. The final answer is 200, or 481 when there is no such dialog in
   * status `dialog`, or 488 when that side is no phone.
   */
  takeOver(side: DialogSide & TakeOverOptions): OutgoingCall;
  /**
   * Joins the opponent with one side of another dialog, as a REFER with Replaces would: the rest of both ends. Only in
   * state `connected`.
   */
  join(side: DialogSide & TransferOptions): Transfer;
}
