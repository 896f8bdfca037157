/** Calls the addresses of one or several callees at once. */
import { codecWish, type EndpointServer, MediaError } from '../../media/index.ts';
import { answer, bracketUri, type SipAnswer, type SipDialog } from '../../signalling/index.ts';
import type { Callee } from '../addresses/callee.ts';
import { peerOf } from '../addresses/peer.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt, failureAnswer } from './attempt.ts';
import { Fork, type ForkOutcome, type ForkTarget } from './fork.ts';
import { type Branch, Branches, type Called, partyAt, type Reached } from './branches.ts';
import { CallerRinging } from './caller-ringing.ts';
import { CallDialog } from '../dialogs/dialog.ts';
import { forwardedBy, type ForwardedAway } from './forwarded.ts';
import { InTurn } from './in-turn.ts';
import type { CallingLeg } from '../legs/leg.ts';
import { uriOf } from '../legs/party.ts';
import { codecsOf } from '../legs/codecs-of.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { offeredTo } from '../legs/srtp-policy.ts';
import { type Offer, Offers } from './offers.ts';
import { servePreAnswer } from './pre-answer.ts';
import { refusalForCaller } from './refusal.ts';
import { sendDigits } from '../legs/send-digits.ts';
import type { SwitchTools } from '../tools.ts';

/** Calls every address of a callee. The first to answer gets the call. */
export function callCallee(tools: SwitchTools, callee: Callee, options: AttemptOptions): Attempt {
  const { dialled, tail } = options;
  return callFirst(tools, [{ callee, dialled, tail }], options);
}

/**
 * Calls every address of several callees at once. The first to answer gets the call, and the others are cancelled before
 * it is connected.
 * @returns answeredBy: what was dialled for the callee that answered; undefined without an answer
 */
export function callFirst(
  tools: SwitchTools,
  called: readonly Called[],
  options: AttemptOptions,
): Attempt & { readonly answeredBy: () => string | undefined } {
  const reachable = called.filter(({ callee }) => callee.addresses.length > 0);
  if (reachable.length === 0) {
    const { provisional, final } = failedAttempt(480);
    return { provisional, final, answeredBy: () => undefined };
  }
  const call = new PhonesCall(tools, reachable, options);
  call.start().catch((err: unknown) => call.fail(err));
  const { provisional, final } = call.progress;
  return { provisional, final, answeredBy: () => call.answeredBy };
}

/** The answer of one address. */
type AnsweredBranch = Pick<ForkOutcome & { answered: true }, 'dialog' | 'sdp' | 'allowEvents'>;

class PhonesCall {
  readonly progress = new AttemptProgress();
  readonly #tools: SwitchTools;
  readonly #options: AttemptOptions;
  readonly #targets: readonly Called[];
  readonly #branches: Branches;
  readonly #ringing: CallerRinging;
  readonly #offers: Offers;
  /** Phones that have picked up and talk to the pre-answer scenario, or did so, by Call-ID. */
  readonly #screened = new Map<string, PhoneLeg>();
  /** Aborted when the call is decided, which ends the scenarios of all other phones. */
  readonly #decided = new AbortController();
  /** Aborted when nobody is to be called any more. */
  readonly #over: AbortSignal;
  #fork: Fork | undefined;
  #on: EndpointServer | undefined;
  #answeredBy: string | undefined;
  /** The scenario or room to which a phone forwarded the call. */
  #away: ForwardedAway | undefined;
  /** True once another leg has picked up the call. */
  #picked = false;
  /** The SIP server for addresses that name none. */
  #via: string | undefined;
  readonly #inTurn: InTurn;

  constructor(tools: SwitchTools, targets: readonly Called[], options: AttemptOptions) {
    this.#tools = tools;
    this.#options = options;
    this.#targets = targets;
    this.#inTurn = new InTurn(tools);
    const { dialog, stop } = options;
    this.#over = stop === undefined ? dialog.ended : AbortSignal.any([dialog.ended, stop]);
    const create: SwitchTools['createEndpoint'] = (wish) => tools.createEndpoint(wish);
    const drop = (work: Promise<unknown>): void => tools.background(work, 'endpoint', options.caller);
    this.#offers = new Offers({ create, drop }, options.preAnswer !== undefined);
    this.#ringing = new CallerRinging(tools, options, this.#offers);
    this.#branches = new Branches(tools, options, {
      offers: this.#offers,
      inTurn: this.#inTurn,
      fork: () => this.#fork,
      via: () => this.#via,
    });
  }

  get answeredBy(): string | undefined {
    return this.#answeredBy;
  }

  async start(): Promise<void> {
    const { dialog, caller, timeoutMs } = this.#options;
    const branches = this.#targets.flatMap((target) => this.#branches.add(target));
    const via = branches.find(({ address }) => address.via !== undefined)?.address.via ?? this.#tools.sipServer();
    this.#via = via;
    // Both endpoints are made at the same time, unless the caller's must show the media server first. The caller's own
    // failure (no common codec) is found before a phone rings.
    const prepared = caller.prepareMedia();
    prepared.catch(() => undefined);
    const on = caller.mediaServer ?? this.#tools.onlyMediaServer() ?? (await prepared)?.server;
    this.#on = on;
    await this.#offer(branches);
    await this.#branches.sign(branches);
    await prepared;
    if (this.#over.aborted) return this.#giveUp(answer(487, undefined, true));
    this.#fork = new Fork(
      (invite) => this.#tools.invite(invite),
      branches.map((branch) => this.#branches.target(branch)),
      timeoutMs,
      {
        screens: this.#options.preAnswer !== undefined,
        provisional: ({ callId }, provisional, sdp) => {
          this.progress.progress(provisional);
          this.#heard(callId, provisional);
          this.#ringing.provisional(callId, provisional, sdp);
        },
        failed: ({ callId }, refusal) => this.#refused(callId, refusal),
        accept: ({ callId }, answered) => this.#accept(callId, answered),
        part: ({ callId }, sip, reason) => this.#part(callId, sip, reason),
        redirected: ({ callId }, elsewhere) => this.#redirected(callId, elsewhere),
        next: ({ callId }, refusal) => this.#next(callId, refusal),
      },
    );
    dialog.pickup = (leg, part) => this.#pickedUp(leg, part);
    const ended = () => this.#fork?.cancel(answer(487, undefined, true));
    this.#over.addEventListener('abort', ended, { once: true });
    const outcome = await this.#fork.outcome;
    this.#over.removeEventListener('abort', ended);
    dialog.pickup = undefined;
    // The error of an abort without a reason takes as long as a hundred lines of code.
    this.#decided.abort('the call is decided');
    if (this.#picked) return;
    if (outcome.answered) await this.#answered(outcome);
    else if (this.#away !== undefined && !this.#over.aborted) await this.#callAway(this.#away);
    else this.#giveUp(outcome.answer);
  }

  /** Another leg answers the call, and the phones stop ringing. */
  async #pickedUp(leg: CallingLeg, part: () => void): Promise<boolean> {
    const { dialog, caller, domain, callerNumber, beforeMedia } = this.#options;
    if (this.#picked || dialog.state !== 'forking' || dialog.ended.aborted) return false;
    this.#picked = true;
    this.#fork?.cancel(answer(487, undefined, true));
    this.#offers.close();
    if (leg.owner instanceof CallDialog) this.#tools.dialogs.continued(leg.owner, dialog);
    part();
    const uris = { localuri: bracketUri(callerNumber, domain), remoteuri: uriOf(leg.party) };
    dialog.addBranch(leg, uris, 'undefined');
    dialog.establish(leg);
    try {
      await this.#ringing.settled();
      await Promise.all([leg.answered(), caller.answered()]);
      await beforeMedia?.();
      await dialog.connectMedia();
      this.progress.finish(answer(200, 'OK', false));
    } catch (err) {
      if (!leg.ended && !caller.ended) this.#tools.failed(err, 'pickup', leg);
      this.progress.finish(answer(487, undefined, true));
      dialog.end({ by: 'failure', status: 500, reason: 'Server Internal Error' });
    }
    return true;
  }

  /** Ends the call after a failure of this node, with the status of that failure. */
  fail(err: unknown): void {
    const failed = failureAnswer(err);
    if (!this.#options.dialog.ended.aborted) this.#tools.failed(err, 'call', this.#options.caller);
    this.#fork?.cancel(failed);
    this.#giveUp(failed);
  }

  async #offer(branches: readonly Branch[]): Promise<void> {
    const { caller } = this.#options;
    const offered = await Promise.all(
      branches.map(async ({ callId, callee, address }) => {
        const { directory } = this.#tools;
        const codecs = codecWish(codecsOf(directory, callee.party), caller.codec);
        return { callId, ...offeredTo(directory, callee.party, address), codecs, peer: await peerOf(address) };
      }),
    );
    await this.#offers.open(offered, { via: this.#via, on: this.#on });
  }

  #refused(callId: string, refusal: SipAnswer): SipAnswer {
    const party = this.#branches.reached(callId)?.target.callee.party;
    const told = party === undefined ? refusal : refusalForCaller(this.#tools, refusal, party, { callid: callId });
    // The history of a contact that was not reached has what the caller got, and why.
    const { reason } = refusal;
    this.#options.dialog.removeBranch(callId, told.unreached === true ? { ...told, reason } : refusal);
    return told;
  }

  /** A phone forwards the call (3xx): each account is called once. */
  async #redirected(callId: string, contacts: readonly string[]): Promise<readonly ForkTarget[]> {
    const by = this.#branches.reached(callId)?.target;
    if (by === undefined) return [];
    const { callees, away } = forwardedBy(this.#tools, by.callee, contacts);
    this.#away ??= away;
    return this.#instead(
      callId,
      callees.flatMap((called) => this.#branches.add({ ...called, tail: by.tail })),
    );
  }

  /** After a failure of a gateway, the next one of the provider. */
  #next(callId: string, refusal: SipAnswer): Promise<readonly ForkTarget[]> | undefined {
    const { target, address } = this.#branches.reached(callId) as Reached;
    const next = this.#inTurn.next(callId, { callee: target.callee, address }, refusal);
    return next && this.#instead(callId, [this.#branches.addOne(target, next)]);
  }

  async #instead(callId: string, branches: readonly Branch[]): Promise<readonly ForkTarget[]> {
    try {
      await this.#offer(branches);
      await this.#branches.sign(branches);
      return branches.map((branch) => this.#branches.target(branch));
    } catch (err) {
      this.#tools.failed(err, 'call to another address', { callid: callId });
      for (const branch of branches) this.#options.dialog.removeBranch(branch.callId);
      return [];
    }
  }

  /** No phone answered: the call goes to the scenario or room to which one of them forwarded it. */
  async #callAway({ decision, ...to }: ForwardedAway): Promise<void> {
    this.#offers.close();
    await this.#ringing.settled();
    const { provisional, final } = this.#tools.placeCall(decision, { ...this.#options, ...to, tail: [] });
    const first = await provisional;
    if (first.status < 200) this.progress.progress(first);
    this.progress.finish(await final);
  }

  #heard(callId: string, said: SipAnswer): void {
    const { target, address } = this.#branches.reached(callId) as Reached;
    this.#inTurn.heard(callId, { callee: target.callee, address }, said);
  }

  /**
   * Applies the session description of a phone that answered, and lets the pre-answer scenario, if any, serve the phone.
   * @returns the refusal of an unusable one, or of a phone that does not take the call
   */
  async #accept(callId: string, answered: AnsweredBranch): Promise<SipAnswer | undefined> {
    // An answer that was in a provisional response need not be repeated (RFC 3261 section 13.2.1).
    this.#heard(callId, answer(200, undefined, false));
    const sdp = answered.sdp === '' ? this.#ringing.sdp(callId) : answered.sdp;
    try {
      if (sdp === undefined) throw new MediaError('the called phone answered without a session description', 488);
      const offer = this.#offers.of(callId);
      await offer?.endpoint.answered(sdp, (changed) => answered.dialog.reinvite(offer.description.of(changed)));
      return await this.#screen(callId, answered);
    } catch (err) {
      const over = this.#picked || this.#options.dialog.ended.aborted;
      if (!over) this.#tools.failed(err, 'answer', { callid: callId });
      return failureAnswer(err);
    }
  }

  /** @returns 603 when the phone does not take the call, or somebody else has it by now */
  async #screen(callId: string, answered: AnsweredBranch): Promise<SipAnswer | undefined> {
    const { dialog, preAnswer } = this.#options;
    if (preAnswer === undefined) return undefined;
    const leg = this.#legOf(callId, answered);
    this.#screened.set(callId, leg);
    const { listenTo } = this.#tools;
    const taken = await servePreAnswer(leg, dialog, preAnswer, { listenTo, decided: this.#decided.signal });
    return taken ? undefined : answer(603, undefined, true);
  }

  /** The leg of a phone that answered. */
  #legOf(callId: string, { dialog: sip, allowEvents }: AnsweredBranch): PhoneLeg {
    const { target, address } = this.#branches.reached(callId) as Reached;
    return PhoneLeg.outgoing(this.#tools, partyAt(target.callee, address), {
      sip,
      ...(this.#offers.take(callId) as Offer),
      allowEvents: [...(address.allowEvents ?? []), ...allowEvents],
    });
  }

  /** Hangs up a phone that answered and does not get the call. */
  #part(callId: string, sip: SipDialog, reason: string): void {
    const leg = this.#screened.get(callId);
    if (leg !== undefined) leg.release({ by: 'failure', status: 487, reason: 'Not Connected', header: reason });
    // An unanswered BYE changes nothing: the phone has no part in the call.
    else void sip.bye({ Reason: reason }).catch(() => undefined);
  }

  async #answered(outcome: ForkOutcome & { answered: true }): Promise<void> {
    const { dialog, dtmfProto } = this.#options;
    const { callId } = outcome.target;
    const { target } = this.#branches.reached(callId) as Reached;
    const leg = this.#screened.get(callId) ?? this.#legOf(callId, outcome);
    this.#offers.close();
    // The phone's 2xx establishes the dialog, before the caller gets its own.
    if (!dialog.establish(leg)) {
      leg.release({ by: 'a', status: 487, reason: 'Request Terminated' });
      this.#giveUp(answer(487, undefined, true));
      return;
    }
    this.#answeredBy = target.dialled;
    if (leg.ended) dialog.legEnded(leg, 'BYE');
    else await this.#connected();
    this.progress.finish(outcome.answer);
    if (target.tail.length > 0) sendDigits(this.#tools, leg, target.tail, dtmfProto ?? 'rfc2833');
  }

  /** Connects both sides. A hang-up meanwhile is no failure: the call was answered. */
  async #connected(): Promise<void> {
    const { dialog, caller, beforeMedia } = this.#options;
    try {
      await Promise.all([caller.answered(), this.#ringing.settled()]);
      await beforeMedia?.();
      await dialog.connectMedia();
    } catch (err) {
      if (!dialog.ended.aborted) throw err;
    }
  }

  #giveUp(final: SipAnswer): void {
    this.#offers.close();
    this.progress.finish(final);
  }
}
