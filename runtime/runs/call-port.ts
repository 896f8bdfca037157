/**
 * The call as a scenario sees it. The switch implements it over SIP and media; a simulation implements it over a
 * scripted caller. Components know this interface only, so that the same component code runs in both.
 */
import { type CallState, type PlaySource, ScenarioError } from '../language/index.ts';
import type {
  Answer,
  CallEnd,
  CollectOptions,
  CollectResult,
  DialogSide,
  OutgoingCall,
  PartyInfo,
  PlayOptions,
  PlayResult,
  TakeOverOptions,
  Transfer,
  TransferOptions,
} from './call-values.ts';
import type { TailStep } from './dtmf-tail.ts';
import type { EnterOptions, RoomTransfer } from './ports/conferring.ts';
import type { ListenOptions, ListenResult } from './ports/listening.ts';
import type { SipMessage } from './ports/messaging.ts';
import type { RecordOptions, RecordResult } from './ports/recording.ts';
import type { SayOptions } from './ports/speaking.ts';
import type { CallNotice } from './ports/watching.ts';

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

/**
 * A call that a scenario serves: its own, or that of a called party before it is connected. Operations reject with CallStateError,
 * or with the reason of their AbortSignal.
 */
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
  /** The same call where it is the scenario's own; undefined for a called party before it is connected. */
  readonly own: OwnCall | undefined;
  /** 180 Ringing to an incoming call. */
  ring(): Promise<void>;
  answer(): Promise<void>;
  reject(status: number, reason?: string): Promise<void>;
  hangup(): Promise<void>;
  play(sources: readonly PlaySource[], options: PlayOptions): Promise<PlayResult>;
  collect(options: CollectOptions): Promise<CollectResult>;
  /** Sends the caller's own voice back until the signal aborts or the call ends. */
  echo(signal: AbortSignal): Promise<void>;
  /** Records the other party. When the signal aborts, or the call ends, what was recorded stays. */
  record(options: RecordOptions): Promise<RecordResult>;
  /** Speaks a text. @throws ScenarioError code `unavailable` where there is no speech engine */
  say(text: string, options: SayOptions): Promise<PlayResult>;
  /** Recognises speech. @throws ScenarioError code `unavailable` where there is no speech engine */
  listen(options: ListenOptions): Promise<ListenResult>;
  /** Sends digits and pauses in order; resolves when the last one is out. */
  sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void>;
  /**
   * Tells of every notice until the returned function is called. A digit is offered here only while no block listens
   * for digits; when the watcher answers true it is used up, else it is kept for the next block that listens.
   */
  watch(watcher: (notice: CallNotice) => boolean): () => void;
}

/** A call of the scenario's own, in a dialog of its own: it can be placed, transferred and joined. */
export interface OwnCall extends CallPort {
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
  /** Transfers the opponent to the target that answers first; the others are cancelled. */
  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer;
  /**
   * Transfers the opponent into a room, past its PIN; only in state `connected`. After a 2xx the scenario's own dialog is
   * over; after a failure the opponent is the scenario's again.
   */
  enterRoom(options: EnterOptions): RoomTransfer;
  /**
   * Connects the sound of both other parties until one of the calls is over or the signal aborts. A call that is not
   * over is the scenario's as before.
   * @returns whose call ended: `this` or `other`
   * @throws CallStateError when one of the calls is not connected; the signal's reason
   */
  bridge(other: CallPort, signal: AbortSignal): Promise<'this' | 'other'>;
  /** @returns the phone's answer; 408 when there is none, 481 when the call is over */
  sendMessage(message: SipMessage): Promise<Answer>;
}

/** A transfer to the first of several targets that answers. */
export interface HuntTransfer extends Transfer {
  /** The number that answered, once one has. */
  readonly answeredBy: Promise<string | undefined>;
}

/** @throws CallStateError for the call of a party that is not connected yet */
export function ownCall({ own, state }: CallPort, operation: string): OwnCall {
  if (own === undefined) throw new CallStateError(operation, state);
  return own;
}

/**
 * @param what the operation in words, for the message
 * @throws ScenarioError code `unavailable` for the call of a party that is not connected yet
 */
export function ownCallTo({ own }: CallPort, what: string): OwnCall {
  if (own === undefined) throw new ScenarioError('unavailable', `a party that is not connected yet cannot ${what}`);
  return own;
}
