/** Parallel forking: INVITEs to several contacts, of which one gets the call (RFC 3261 section 16.7). */
import {
  answer,
  type OutgoingInvite,
  type OutgoingInviteOptions,
  type OutgoingInviteResult,
  type SipAnswer,
  type SipDialog,
} from '../../signalling/index.ts';

/** One contact to call. */
export interface ForkTarget extends Omit<OutgoingInviteOptions, 'onProvisional' | 'ringMs'> {}

export interface ForkObserver {
  /** A contact answered provisionally (101-199), with early media if `sdp` is there. */
  provisional(target: ForkTarget, answer: SipAnswer, sdp: string | undefined): void;
  /** A contact refused or failed; the others go on. @returns the answer for the caller */
  failed(target: ForkTarget, answer: SipAnswer): SipAnswer;
  /**
   * A contact answered with 2xx.
   * @returns undefined when its session description is usable, and the contact gets the call; else the refusal as which
   * the answer counts, and the contact is hung up
   */
  accept(target: ForkTarget, sdp: string): Promise<SipAnswer | undefined>;
  /** A contact redirected the call (3xx). @returns the contacts to call instead; none makes it a refusal */
  redirected(target: ForkTarget, contacts: readonly string[]): readonly ForkTarget[];
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
 * the CANCEL is ended with BYE.
 */
export class Fork {
  readonly #send: (options: OutgoingInviteOptions) => OutgoingInvite;
  readonly #observer: ForkObserver;
  /** By Call-ID. */
  readonly #invites = new Map<string, OutgoingInvite>();
  readonly #failures: SipAnswer[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: number;
  readonly #outcome = Promise.withResolvers<ForkOutcome>();
  #open = 0;
  #settled = false;
  /** Settles with the latest 2xx: they are accepted one at a time, in the order of their arrival. */
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
    this.#timer = setTimeout(() => this.cancel(answer(408, undefined, true)), timeoutMs);
    for (const target of targets) this.#call(target);
  }

  /** Never rejects. */
  get outcome(): Promise<ForkOutcome> {
    return this.#outcome.promise;
  }

  /** Gives up on every contact that has not answered; the outcome is `why`. Does nothing after an answer. */
  cancel(why: SipAnswer): void {
    if (this.#settled) return;
    for (const invite of this.#invites.values()) invite.cancel();
    this.#finish({ answered: false, answer: why });
  }

  /** The INVITE to one contact, as long as that contact may still answer. */
  invite(callId: string): OutgoingInvite | undefined {
    return this.#settled ? undefined : this.#invites.get(callId);
  }

  #call(target: ForkTarget): void {
    this.#open++;
    const invite = this.#send({
      ...target,
      ringMs: Math.max(0, this.#deadline - performance.now()),
      onProvisional: (provisional, sdp) => {
        if (!this.#settled) this.#observer.provisional(target, provisional, sdp);
      },
    });
    this.#invites.set(target.callId, invite);
    void invite.result.then((result) => {
      if (result.answered) this.#accepting = this.#accepting.then(() => this.#answered(target, result));
      else this.#refused(target, result.answer, result.contacts);
    });
  }

  #refused(target: ForkTarget, refused: SipAnswer, contacts: readonly string[]): void {
    this.#open--;
    if (this.#settled) return;
    const refusal = this.#observer.failed(target, refused);
    const instead = contacts.length === 0 ? [] : this.#observer.redirected(target, contacts);
    for (const other of instead) this.#call(other);
    if (instead.length === 0) this.#failures.push(refusal);
    // A 6xx speaks for the whole account, so all other contacts are cancelled (section 16.7, step 5).
    if (refusal.status >= 600) this.cancel(refusal);
    else if (this.#open === 0) this.#finish({ answered: false, answer: bestAnswer(this.#failures) });
  }

  async #answered(target: ForkTarget, result: OutgoingInviteResult & { answered: true }): Promise<void> {
    const { dialog, sdp } = result;
    const refusal = this.#settled ? undefined : await this.#observer.accept(target, sdp);
    if (this.#isSettled()) {
      // Two phones answered within one round trip: the Reason tells the second that the first has the call.
      hangUp(dialog, 'SIP;cause=200;text="Call completed elsewhere"');
    } else if (refusal !== undefined) {
      hangUp(dialog, `SIP;cause=${refusal.status};text="${refusal.reason}"`);
      this.#refused(target, refusal, []);
    } else {
      this.#finish({ ...result, target });
      for (const invite of this.#invites.values()) invite.cancel();
    }
  }

  // A method, because the compiler takes a narrowed field for unchanged across an await.
  #isSettled(): boolean {
    return this.#settled;
  }

  #finish(outcome: ForkOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#outcome.resolve(outcome);
  }
}

/** @param reason value of the Reason header (RFC 3326) */
function hangUp(dialog: SipDialog, reason: string): void {
  // An unanswered BYE changes nothing: the contact has no part in the call.
  void dialog.bye({ Reason: reason }).catch(() => undefined);
}

/**
 * The answer to pass on when every contact failed: a 6xx, else one of the lowest class. Within a class, a phone's answer
 * comes before a local one, and "busy" before others (RFC 3261 section 16.7, step 6).
 */
export function bestAnswer(answers: readonly SipAnswer[]): SipAnswer {
  const rank = ({ status, local, unreached }: SipAnswer): number => {
    // An unreachable contact comes after every contact that answered.
    const kind = unreached === true ? 5 : Math.floor(status / 100);
    return (kind === 6 ? 0 : kind * 10) + (local ? 2 : 0) + (status === 486 || status === 600 ? 0 : 1);
  };
  return answers.toSorted((a, b) => rank(a) - rank(b))[0] ?? answer(480, undefined, true);
}
