/** Parallel forking: INVITEs to several contacts, of which one gets the call (RFC 3261 section 16.7). */
import { bestAnswer as bestOf } from '../../runs/index.ts';
import {
  answer,
  type OutgoingInvite,
  type OutgoingInviteOptions,
  type OutgoingInviteResult,
  type SipAnswer,
  type SipDialog,
} from '../../signalling/index.ts';
import { type Patience, watchSilence } from './silence.ts';

/** One contact to call. */
export interface ForkTarget extends Omit<OutgoingInviteOptions, 'onProvisional' | 'ringMs'> {
  /** Id of its account, for which a 6xx of one contact speaks. */
  readonly account: string;
  /** How long the contact may be silent; absent: as long as the SIP server waits. */
  readonly patience?: Patience;
}

type Answered = OutgoingInviteResult & { readonly answered: true };

export interface ForkObserver {
  /** True when people decide in `accept`: several contacts are accepted at the same time, while the others ring on. */
  readonly screens: boolean;
  /** A contact answered provisionally (101-199), with early media if `sdp` is there. */
  provisional(target: ForkTarget, answer: SipAnswer, sdp: string | undefined): void;
  /** A contact refused or failed; the others go on. @returns the answer for the caller */
  failed(target: ForkTarget, answer: SipAnswer): SipAnswer;
  /**
   * A contact answered with 2xx. Never rejects.
   * @returns undefined when the contact gets the call; else the refusal as which its answer counts, and it is hung up
   */
  accept(target: ForkTarget, answered: Answered): Promise<SipAnswer | undefined>;
  /** Hangs up a contact that answered and does not get the call. @param reason value of the Reason header (RFC 3326) */
  part(target: ForkTarget, dialog: SipDialog, reason: string): void;
  /** A contact redirected the call (3xx). Never rejects. @returns the contacts to call instead; none makes it a refusal */
  redirected(target: ForkTarget, contacts: readonly string[]): Promise<readonly ForkTarget[]>;
  /**
   * A contact refused or failed, and did not redirect. Never rejects.
   * @returns the contacts to call instead; undefined makes it a refusal
   */
  next?(target: ForkTarget, answer: SipAnswer): Promise<readonly ForkTarget[]> | undefined;
}

export type ForkOutcome =
  | {
      readonly answered: true;
      readonly target: ForkTarget;
      readonly dialog: SipDialog;
      readonly sdp: string;
      readonly answer: SipAnswer;
      readonly allowEvents: readonly string[];
    }
  | { readonly answered: false; readonly answer: SipAnswer };

/**
 * Calls every contact at once. The first usable 2xx wins, and the others get CANCEL. When all fail, the best final answer
 * is chosen (RFC 3261 section 16.7). Without a final answer in time the outcome is a local 408. A second 2xx that crosses
 * the CANCEL is ended with BYE. With screening, the first contact whose person accepts wins; until then the others ring on,
 * and after the time limit only those that have picked up may still accept.
 */
export class Fork {
  readonly #send: (options: OutgoingInviteOptions) => OutgoingInvite;
  readonly #observer: ForkObserver;
  /** By Call-ID. */
  readonly #invites = new Map<string, { readonly target: ForkTarget; readonly invite: OutgoingInvite }>();
  /** Call-IDs of the contacts that may still get the call, and of those among them that have answered. */
  readonly #open = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #failures: SipAnswer[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: number;
  readonly #outcome = Promise.withResolvers<ForkOutcome>();
  #settled: ForkOutcome | undefined;
  /** Settles with the latest 2xx: without screening they are accepted one at a time, in the order of their arrival. */
  #accepting: Promise<void> = Promise.resolve();

  constructor(
    send: (options: OutgoingInviteOptions) => OutgoingInvite,
    targets: readonly ForkTarget[],
    timeoutMs: number,
    observer: ForkObserver,
  ) {
    this.#send = send;
    this.#observer = observer;
    this.#deadline = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.#timeUp(), timeoutMs);
    for (const target of targets) this.#call(target);
  }

  /** Never rejects. */
  get outcome(): Promise<ForkOutcome> {
    return this.#outcome.promise;
  }

  /** Gives up on every contact that has not answered; the outcome is `why`. Does nothing after an answer. */
  cancel(why: SipAnswer): void {
    if (this.#settled !== undefined) return;
    this.#finish({ answered: false, answer: why });
  }

  /** The INVITE to one contact, as long as that contact may still answer. */
  invite(callId: string): OutgoingInvite | undefined {
    return this.#settled === undefined ? this.#invites.get(callId)?.invite : undefined;
  }

  #call(target: ForkTarget): void {
    this.#open.add(target.callId);
    const { account: _, patience, ...options } = target;
    const heard = patience === undefined ? undefined : new AbortController();
    let silent = false;
    const invite = this.#send({
      ...options,
      ringMs: Math.max(0, this.#deadline - performance.now()),
      onProvisional: (provisional, sdp) => {
        heard?.abort('it answers');
        if (!silent && this.#mayWin(target)) this.#observer.provisional(target, provisional, sdp);
      },
    });
    this.#invites.set(target.callId, { target, invite });
    if (patience !== undefined && heard !== undefined)
      watchSilence(patience, heard.signal, () => {
        silent = true;
        this.#silent(target, invite);
      });
    void invite.result.then((result) => {
      heard?.abort('it has answered');
      // Given up, and cancelled: a 2xx that crosses the CANCEL is ended by the INVITE itself.
      if (silent) return;
      if (!result.answered) void this.#refused(target, result.answer, result.contacts);
      else if (this.#observer.screens) void this.#answered(target, result);
      else this.#accepting = this.#accepting.then(() => this.#answered(target, result));
    });
  }

  /** The contact is given up, and cancelled in case that it ever speaks. */
  #silent(target: ForkTarget, invite: OutgoingInvite): void {
    if (!this.#mayWin(target)) return;
    invite.cancel();
    void this.#refused(target, answer(408, 'No Answer From Gateway', true), []);
  }

  #mayWin({ callId }: ForkTarget): boolean {
    return this.#settled === undefined && this.#open.has(callId);
  }

  async #refused(target: ForkTarget, refused: SipAnswer, contacts: readonly string[]): Promise<void> {
    if (!this.#mayWin(target)) return;
    const refusal = this.#observer.failed(target, refused);
    const next =
      contacts.length === 0 ? this.#observer.next?.(target, refused) : this.#observer.redirected(target, contacts);
    const instead = next === undefined ? [] : await next;
    if (!this.#mayWin(target)) return;
    for (const other of instead) this.#call(other);
    this.#open.delete(target.callId);
    if (instead.length === 0) this.#failures.push(refusal);
    // A 6xx speaks for the whole account, so its other contacts are cancelled (section 16.7, step 5).
    if (refusal.status >= 600 && !refusal.local)
      this.#giveUp((other) => other.account === target.account, answer(487, undefined, true));
    if (this.#open.size === 0) this.#finish({ answered: false, answer: bestAnswer(this.#failures) });
  }

  #timeUp(): void {
    const late = answer(408, undefined, true);
    if (this.#accepted.size === 0) return this.cancel(late);
    this.#failures.push(late);
    this.#giveUp(() => true, late);
  }

  /** Gives up on contacts that have not answered; the others go on. */
  #giveUp(which: (target: ForkTarget) => boolean, why: SipAnswer): void {
    for (const callId of this.#open) {
      const { target, invite } = this.#invites.get(callId) ?? {};
      if (target === undefined || this.#accepted.has(callId) || !which(target)) continue;
      this.#open.delete(callId);
      invite?.cancel();
      this.#observer.failed(target, why);
    }
  }

  async #answered(target: ForkTarget, result: Answered): Promise<void> {
    const { dialog } = result;
    const { callId } = target;
    if (!this.#mayWin(target)) return this.#observer.part(target, dialog, this.#endReason());
    this.#accepted.add(callId);
    const refusal = await this.#observer.accept(target, result);
    this.#accepted.delete(callId);
    if (!this.#mayWin(target)) {
      this.#observer.part(target, dialog, this.#endReason());
    } else if (refusal !== undefined) {
      this.#observer.part(target, dialog, `SIP;cause=${refusal.status};text="${refusal.reason}"`);
      await this.#refused(target, refusal, []);
    } else {
      this.#finish({ ...result, target });
    }
  }

  /** Tells a phone that rings, or picked up too late, whether somebody else has the call. */
  #endReason(): string {
    if (this.#settled?.answered !== false) return 'SIP;cause=200;text="Call completed elsewhere"';
    const { status, reason } = this.#settled.answer;
    return `SIP;cause=${status};text="${reason}"`;
  }

  #finish(outcome: ForkOutcome): void {
    if (this.#settled !== undefined) return;
    this.#settled = outcome;
    clearTimeout(this.#timer);
    // Phones then count no missed call.
    const reason = outcome.answered ? this.#endReason() : undefined;
    for (const { invite } of this.#invites.values()) invite.cancel(reason);
    this.#outcome.resolve(outcome);
  }
}

/** The answer to pass on when every contact failed; 480 without any answer. */
export function bestAnswer(answers: readonly SipAnswer[]): SipAnswer {
  return bestOf(answers) ?? answer(480, undefined, true);
}
