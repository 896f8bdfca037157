/** A call on its way to a target: its options and its answers. */
import type { DomainName } from '../../domain-name/index.ts';
import type { DtmfProto, EnteredRoom, PreAnswer, TailStep } from '../../runs/index.ts';
import { MediaError } from '../../media/index.ts';
import { answer, type SipAnswer } from '../../signalling/index.ts';
import type { Entrance } from '../../conference/index.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { CallingLeg, EndCause } from '../legs/leg.ts';
import type { CallerName, ShownCaller } from '../legs/shown-caller.ts';

/**
 * The progress of a call to its target. The promises never reject: a failure is an answer too. `provisional` is the first
 * answer of 101-199, or the final one without any.
 */
export interface Attempt {
  readonly provisional: Promise<SipAnswer>;
  readonly final: Promise<SipAnswer>;
}

/** How a party enters a room, as far as the dialled number does not say it. */
export type EntranceOptions = Pick<Entrance, 'brought' | 'moderator' | 'muted' | 'instead'> & {
  /** The dialog of the scenario that calls the room. */
  readonly through?: string;
};

export interface AttemptOptions {
  /** The dialog of the call, which has only its A leg yet. */
  readonly dialog: CallDialog;
  /** The A leg. */
  readonly caller: CallingLeg;
  /** The caller's domain. */
  readonly domain: DomainName;
  /** What was dialled, without DTMF tail. */
  readonly dialled: string;
  /** Sent to the called party after the answer. */
  readonly tail: readonly TailStep[];
  /** Number and name shown to the called party. */
  readonly callerNumber: string;
  readonly callerName: string | undefined;
  /** Who the caller is, where the number is withheld. */
  readonly asserted?: CallerName | undefined;
  readonly timeoutMs: number;
  /** Extra INVITE headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** How the caller enters a room, if the call leads to one. */
  readonly entrance?: EntranceOptions;
  /** Called when the caller is in a room: before `placeCall` returns on a single node, before the final answer in a cluster. */
  readonly onEntered?: (entered: EnteredRoom) => void;
  /** How the tail is sent; default `rfc2833`. */
  readonly dtmfProto?: DtmfProto;
  /** Runs before the sound of both sides is connected, e.g. to end a ringback tone. */
  readonly beforeMedia?: () => Promise<void>;
  /** The caller hears a sound of its own until the answer, and neither a ringing tone nor early media. */
  readonly ownSound?: boolean;
  /** Serves a called phone after its answer, before it is connected. */
  readonly preAnswer?: PreAnswer;
  /** Ends the attempt with 487; the dialog goes on. */
  readonly stop?: AbortSignal;
}

/** The options that name the caller. */
export type CallerOptions = Pick<AttemptOptions, 'callerNumber' | 'callerName' | 'asserted'>;

export function callerOptions({ number, name, asserted }: ShownCaller): CallerOptions {
  return { callerNumber: number, callerName: name, asserted };
}

/** The caller that options name. */
export function callerOf({ callerNumber: number, callerName: name, asserted }: CallerOptions): ShownCaller {
  return { number, name, asserted };
}

/** Takes the answers to one attempt as they arrive. */
export class AttemptProgress implements Attempt {
  readonly #provisional = Promise.withResolvers<SipAnswer>();
  readonly #final = Promise.withResolvers<SipAnswer>();

  get provisional(): Promise<SipAnswer> {
    return this.#provisional.promise;
  }

  get final(): Promise<SipAnswer> {
    return this.#final.promise;
  }

  progress(provisional: SipAnswer): void {
    this.#provisional.resolve(provisional);
  }

  finish(final: SipAnswer): void {
    this.#provisional.resolve(final);
    this.#final.resolve(final);
  }
}

/** An attempt that fails before anybody is called. */
export function failedAttempt(status: number, reason?: string): Attempt {
  const progress = new AttemptProgress();
  progress.finish(answer(status, reason, true));
  return progress;
}

/** The answer to a call that failed here; 500 for anything else than a failure of the media. */
export function failureAnswer(error: unknown): SipAnswer {
  return error instanceof MediaError ? answer(error.status, error.phrase, true) : answer(500, undefined, true);
}

/** The end of a failed call, with its final answer as the cause. */
export function failureCause(final: SipAnswer): EndCause {
  return { by: 'failure', status: final.status, reason: final.reason };
}
