/**
 * The call as a scenario sees it. The switch implements it over SIP and media; a simulation implements it over a
 * scripted caller. Components know this interface only, so that the same component code runs in both.
 */
import type { DomainName } from '../domain-name/index.ts';
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
  RingbackOptions,
  TakeOverOptions,
  Transfer,
  TransferOptions,
} from './call-values.ts';
import type { TailStep } from './dtmf-tail.ts';
import type { SuperviseOptions } from './ports/agents.ts';
import type { EnterOptions, RoomTransfer } from './ports/conferring.ts';
import type { ListenOptions, ListenResult } from './ports/listening.ts';
import type { MachineOptions, MachineResult } from './ports/machine-detection.ts';
import type { SipMessage } from './ports/messaging.ts';
import type { RecordOptions, RecordResult } from './ports/recording.ts';
import type { SayOptions } from './ports/speaking.ts';
import type { CallNotice } from './ports/watching.ts';

export interface DialOptions {
  /** Number (mode number) or sipuser login (mode sipuser) of the called party; a DTMF tail may follow `'` or `,`. */
  readonly to: string;
  readonly mode: 'number' | 'sipuser';
  /** Number shown to the called party. */
  readonly callerNumber: string;
  readonly callerName: string;
  readonly timeoutMs: number;
  /** Routes through the domain's intercom featurecode, so that the device answers by itself. */
  readonly useIntercom: boolean;
  readonly binding?: string;
  /** Extra INVITE headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Transport of digits to the called party, from the tail of `to` and from the scenario; default `rfc2833`. */
  readonly dtmfProto?: 'rfc2833' | 'sipinfo';
  readonly preAnswer?: PreAnswer;
}

/**
 * Serves the called party between its answer and the connection, over a call of its own, which must stay up. False refuses
 * the connection: the party is released, and the final answer is 603. Never rejects.
 */
export type PreAnswer = (called: CallPort) => Promise<boolean>;

export interface ReferOptions extends TransferOptions {
  /** Number of the transfer target; a DTMF tail may follow `'` or `,`. */
  readonly to: string;
  /** Domain of the number, when not the scenario's: only for the way back to the party that the call was taken from. */
  readonly domain?: string;
  /** Returns to the party that `takeOver` left `held`, in their old call, without a new call; when it is still there. */
  readonly back?: boolean;
  /** False: the transferred party hears nothing until the target answers. Default: the ringback tone, or `sounds`. */
  readonly ringback?: boolean;
  /**
   * Played to the transferred party, over and over, in place of the ringback tone. With it, and with `preAnswer`, the party
   * does not hear early media of the target.
   */
  readonly sounds?: readonly PlaySource[];
  readonly timeoutMs?: number;
  /** Shows the target no number of the transferred party. */
  readonly withhold?: boolean;
  readonly preAnswer?: PreAnswer;
}

/** True for an end of the call that the scenario did not cause. */
export function isInterruption({ by }: CallEnd): boolean {
  return by === 'opponent' || by === 'external' || by === 'taken';
}

/** Hints for authors, by the state of the call. */
const STATE_TEXTS: Partial<Record<CallState, string>> = {
  none: 'there is no call; place one first',
  incoming: 'the call is incoming; answer it first',
};

/** An operation that the state of the call does not allow, e.g. `play` after hang-up. */
export class CallStateError extends Error {
  override readonly name = 'CallStateError';
  readonly state: CallState;
  constructor(operation: string, state: CallState) {
    super(`${operation} is not possible: ${STATE_TEXTS[state] ?? `the call is ${state}`}`);
    this.state = state;
  }

  /** The same error in an author's words. @param component that needed the operation */
  of(component: string): CallStateError {
    return new CallStateError(component, this.state);
  }
}

/** The run that a call belongs to. */
export interface ServingRun {
  readonly id: string;
  readonly scenario: string;
  /** The run of an operation, which has its id. */
  readonly operation?: true;
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
  readonly domain: DomainName;
  /** The party at the other end; undefined before `dial`. */
  readonly opponent: PartyInfo | undefined;
  /** Its side of the dialog; undefined without one. */
  readonly opponentSide: 'a' | 'b' | undefined;
  /** The dialled number that reached the scenario. */
  readonly dialled: string | undefined;
  /** Aborted (reason: CallEnd) as soon as the call is over for the scenario. */
  readonly endSignal: AbortSignal;
  /** The same call where it is the scenario's own; undefined for a called party before it is connected. */
  readonly own: OwnCall | undefined;
  /** Names the run that the call belongs to, for the history of calls. */
  servedBy?(run: ServingRun): void;
  /** 180 Ringing to an incoming call. */
  ring(): Promise<void>;
  answer(): Promise<void>;
  reject(status: number, reason?: string): Promise<void>;
  /**
   * Ends the call in every state: an incoming one with the best refusal of those who were called for it, else with 480; one in
   * state `none` without a request. Does nothing afterwards.
   */
  hangup(): Promise<void>;
  play(sources: readonly PlaySource[], options: PlayOptions): Promise<PlayResult>;
  /**
   * Lets the other party hear that somebody is being called for it, until the signal aborts. A caller who is not answered yet
   * gets 180 without sounds, and otherwise hears them as early media (183). Rejects with the signal's reason, like `play`.
   */
  ringback(options: RingbackOptions): Promise<void>;
  collect(options: CollectOptions): Promise<CollectResult>;
  /** Sends the caller's own voice back until the signal aborts or the call ends. */
  echo(signal: AbortSignal): Promise<void>;
  /** Records the other party. When the signal aborts, or the call ends, what was recorded stays. */
  record(options: RecordOptions): Promise<RecordResult>;
  /** Speaks a text. @throws ScenarioError code `unavailable` without a speech engine */
  say(text: string, options: SayOptions): Promise<PlayResult>;
  /** Recognises speech. @throws ScenarioError code `unavailable` without a speech engine */
  listen(options: ListenOptions): Promise<ListenResult>;
  /** Tells a person who has just answered from a machine. */
  detectMachine(options: MachineOptions): Promise<MachineResult>;
  /** Sends digits and pauses in order; resolves after the last one. */
  sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void>;
  /**
   * Passes every notice to the watcher until the returned function is called. Digits are offered only while no block
   * listens for digits. A watcher that returns true uses the digit up; otherwise the next listening block gets it.
   */
  watch(watcher: (notice: CallNotice) => boolean): () => void;
}

/** The scenario's own call, in a dialog of its own: it can be placed, transferred and joined. */
export interface OwnCall extends CallPort {
  /** Starts the call to F. Returns at once; only in state `none`. */
  dial(options: DialOptions): OutgoingCall;
  /**
   * Transfers the opponent; in state `connected`, and in state `incoming`: the caller is answered when the target answers, and
   * otherwise is back, still unanswered.
   */
  refer(options: ReferOptions): Transfer;
  /**
   * Takes one side out of a live dialog, as an INVITE with Replaces would (RFC 3891). That side becomes the opponent, and
   * the rest of the dialog ends. Only in state `none`. The final answer is 200; 481 without such a dialog in status
   * `dialog`; 488 when that side is not a phone.
   */
  takeOver(side: DialogSide & TakeOverOptions): OutgoingCall;
  /**
   * Joins the opponent with one side of another dialog, as a REFER with Replaces would; the remaining legs of both dialogs
   * end. Only in state `connected`.
   */
  join(side: DialogSide & TransferOptions): Transfer;
  /** Transfers the opponent, like `refer`, to the first target that answers; the others are cancelled. */
  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer;
  /**
   * Transfers the opponent into a room, without its PIN; only in state `connected`. A 2xx ends the scenario's own dialog.
   * After a failure the opponent is back in the scenario.
   */
  enterRoom(options: EnterOptions): RoomTransfer;
  /**
   * Connects the audio of both other parties until one of the calls ends or the signal aborts. The scenario keeps a call
   * that has not ended.
   * @returns the call that ended: `this` or `other`
   * @throws CallStateError when one of the calls is not connected; the signal's reason
   */
  bridge(other: CallPort, signal: AbortSignal): Promise<'this' | 'other'>;
  /**
   * Lets the other party hear a party of another call, with what that party hears. Resolves at the end of that party's call,
   * and when the other party presses `*`.
   * @throws the reason of the signal
   */
  supervise(options: SuperviseOptions): Promise<void>;
  /** Somebody who was called for the other party did not take the call: see `hangup`. */
  unreached(refusal: Answer): void;
  /** @returns the phone's answer; 408 without one, 481 after the end of the call */
  sendMessage(message: SipMessage): Promise<Answer>;
}

/** A transfer to the first of several targets that answers. */
export interface HuntTransfer extends Transfer {
  /** The number that answered. */
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
