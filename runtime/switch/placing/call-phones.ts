/** Calls the addresses of one or several callees at once. */
import { randomUUID } from 'node:crypto';
import type { TailStep } from '../../runs/index.ts';
import { type EndpointServer, MediaError } from '../../media/index.ts';
import {
  ANONYMOUS,
  answer,
  bracketUri,
  callerAddr,
  type SipAnswer,
  type SipDialog,
  WITHHELD,
} from '../../signalling/index.ts';
import { ANONYMOUS_CALLER, type Callee, type CalleeAddress } from '../addresses/callee.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt, failureAnswer } from './attempt.ts';
import { Fork, type ForkOutcome, type ForkTarget } from './fork.ts';
import { CallDialog } from '../dialogs/dialog.ts';
import { forwardedBy, type ForwardedAway } from './forwarded.ts';
import { InTurn } from './in-turn.ts';
import { BranchLeg } from '../legs/branch-leg.ts';
import type { CallingLeg, Device } from '../legs/leg.ts';
import { type Party, uriOf } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { isBrowser, srtpOf } from '../legs/srtp-policy.ts';
import { type Offer, Offers } from './offers.ts';
import { servePreAnswer } from './pre-answer.ts';
import { refusalForCaller } from './refusal.ts';
import { signatureHeaders } from './signature.ts';
import { verifiedHeaders } from './verified-headers.ts';
import { sendDigits } from '../legs/send-digits.ts';
import type { SwitchTools } from '../tools.ts';

/** A callee, and what was dialled to reach it. */
export interface Called {
  readonly callee: Callee;
  readonly dialled: string;
  /** Sent to it after the answer. */
  readonly tail: readonly TailStep[];
}

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

interface LegUris {
  readonly localuri: string;
  readonly remoteuri: string;
}

/** A called address, and its callee. */
interface Reached {
  readonly target: Called;
  readonly address: CalleeAddress;
}

/** An address to call. */
interface Branch {
  readonly callee: Callee;
  readonly address: CalleeAddress;
  readonly callId: string;
  readonly uris: LegUris;
}

/** The answer of one address. */
type AnsweredBranch = Pick<ForkOutcome & { answered: true }, 'dialog' | 'sdp' | 'allowEvents'>;

class PhonesCall {
  readonly progress = new AttemptProgress();
  readonly #tools: SwitchTools;
  readonly #options: AttemptOptions;
  readonly #targets: readonly Called[];
  /** The called addresses, by Call-ID of the branch. */
  readonly #called = new Map<string, Reached>();
  /** The latest session descriptions of phones that have not answered, by Call-ID. */
  readonly #earlySdp = new Map<string, string>();
  /** Call-IDs of the ringing branches. */
  readonly #ringing = new Set<string>();
  /** Accounts that were called: a redirection to one of them is dropped, as it could go in circles. */
  readonly #accounts = new Set<string>();
  readonly #offers: Offers;
  /** Phones that have picked up and talk to the pre-answer scenario, or did so, by Call-ID. */
  readonly #screened = new Map<string, PhoneLeg>();
  /** Aborted when the call is decided, which ends the scenarios of all other phones. */
  readonly #decided = new AbortController();
  /** Aborted when nobody is to be called any more. */
  readonly #over: AbortSignal;
  #fork: Fork | undefined;
  #on: EndpointServer | undefined;
  #early: Promise<void> | undefined;
  #answeredBy: string | undefined;
  /** The scenario or room to which a phone forwarded the call. */
  #away: ForwardedAway | undefined;
  /** True once another leg has picked up the call. */
  #picked = false;
  /** The SIP server for addresses that name none. */
  #via: string | undefined;
  readonly #inTurn: InTurn;
  /** Headers, by Call-ID. */
  readonly #signatures = new Map<string, Readonly<Record<string, string>>>();

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
  }

  get answeredBy(): string | undefined {
    return this.#answeredBy;
  }

  async start(): Promise<void> {
    const { dialog, caller, timeoutMs } = this.#options;
    const branches = this.#targets.flatMap((target) => this.#branches(target));
    const via = branches.find(({ address }) => address.via !== undefined)?.address.via ?? this.#tools.sipServer();
    this.#via = via;
    // Both endpoints are made at the same time, unless the caller's must show the media server first. The caller's own
    // failure (no common codec) is found before a phone rings.
    const prepared = caller.prepareMedia();
    prepared.catch(() => undefined);
    const on = caller.mediaServer ?? this.#tools.onlyMediaServer() ?? (await prepared)?.server;
    this.#on = on;
    await this.#offer(branches);
    await this.#sign(branches);
    await prepared;
    if (this.#over.aborted) return this.#giveUp(answer(487, undefined, true));
    this.#fork = new Fork(
      (invite) => this.#tools.invite(invite),
      branches.map((branch) => this.#target(branch)),
      timeoutMs,
      {
        screens: this.#options.preAnswer !== undefined,
        provisional: ({ callId }, provisional, sdp) => this.#provisional(callId, provisional, sdp),
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
      await this.#early?.catch(() => undefined);
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

  #offer(branches: readonly Branch[]): Promise<void> {
    const offered = branches.map(({ callId, callee, address }) => ({
      callId,
      browser: isBrowser(address),
      srtp: srtpOf(this.#tools.directory, callee.party),
    }));
    return this.#offers.open(offered, { via: this.#via, on: this.#on });
  }

  /** Each call to an address has a signature of its own. */
  async #sign(branches: readonly Branch[]): Promise<void> {
    const { party } = this.#options.caller;
    await Promise.all(
      branches.map(async ({ callee, callId: callid }) => {
        if (callee.signed === undefined) return;
        this.#signatures.set(callid, await signatureHeaders(this.#tools, callee, party, { callid }));
      }),
    );
  }

  /** Adds a branch to the dialog for every address of a callee that is called at once. */
  #branches(target: Called): Branch[] {
    const { callee } = target;
    if (this.#accounts.has(callee.account)) return [];
    this.#accounts.add(callee.account);
    return this.#inTurn.first(callee).map((address) => this.#branch(target, address));
  }

  #branch(target: Called, address: CalleeAddress): Branch {
    const { dialog, domain, callerNumber, timeoutMs } = this.#options;
    const { callee } = target;
    const { called, host, caller } = callee;
    const uris = {
      localuri: bracketUri(caller?.number ?? callerNumber, caller?.host ?? domain),
      remoteuri: bracketUri(called, host),
    };
    const callId = `${randomUUID()}@${host}`;
    this.#called.set(callId, { target, address });
    const giveUp = (): void => this.#fork?.cancel(answer(487, undefined, true));
    const leg = new BranchLeg(callId, partyAt(callee, address), giveUp, {
      device: this.#device(address, callId),
      tags: () => this.#fork?.invite(callId)?.tags ?? [],
    });
    dialog.addBranch(leg, uris, Date.now() + timeoutMs);
    return { callee, address, callId, uris };
  }

  /** The device of a ringing contact, which a NOTIFY can ask to answer. */
  #device({ allowEvents = [] }: CalleeAddress, callId: string): Device {
    const invite = () => this.#fork?.invite(callId);
    const failed = (err: unknown) => this.#tools.failed(err, 'NOTIFY', { callid: callId });
    return {
      get allowEvents() {
        return new Set([...allowEvents, ...(invite()?.allowEvents ?? [])]);
      },
      notify: (event) => invite()?.notify(event, failed) === true,
    };
  }

  #target({ callee, address, callId, uris }: Branch): ForkTarget {
    const offer = this.#offers.of(callId);
    const { domain, callerName, callerNumber, headers } = this.#options;
    const { credentials, identity } = callee;
    const caller =
      callee.caller ??
      (callerNumber === ANONYMOUS ? ANONYMOUS_CALLER : { number: callerNumber, name: callerName, host: domain });
    const isWithheld = caller.number === ANONYMOUS;
    const calling = this.#options.caller.party;
    const patience = this.#inTurn.patience({ callee, address });
    return {
      account: callee.account,
      ...(patience && { patience }),
      uri: address.uri,
      ...(address.nextHop === undefined ? {} : { nextHop: address.nextHop }),
      ...(address.route === undefined ? {} : { route: address.route }),
      via: address.via ?? this.#via,
      callId,
      from: callerAddr(caller.name, caller.number, caller.host),
      to: uris.remoteuri,
      sdp: offer?.description.of(offer.endpoint.localSdp) ?? '',
      headers: {
        ...headers,
        ...(isWithheld ? WITHHELD : verifiedHeaders(calling, callee.party, caller)),
        ...identity,
        ...this.#signatures.get(callId),
      },
      ...(calling.kind === 'conference' ? { room: calling.number } : {}),
      ...(credentials === undefined ? {} : { credentials }),
    };
  }

  #refused(callId: string, refusal: SipAnswer): SipAnswer {
    this.#options.dialog.removeBranch(callId, refusal);
    const party = this.#called.get(callId)?.target.callee.party;
    return party === undefined ? refusal : refusalForCaller(this.#tools, refusal, party, { callid: callId });
  }

  /** A phone forwards the call (3xx): each account is called once. */
  async #redirected(callId: string, contacts: readonly string[]): Promise<readonly ForkTarget[]> {
    const by = this.#called.get(callId)?.target;
    if (by === undefined) return [];
    const { callees, away } = forwardedBy(this.#tools, by.callee, contacts);
    this.#away ??= away;
    return this.#instead(
      callId,
      callees.flatMap((called) => this.#branches({ ...called, tail: by.tail })),
    );
  }

  /** After a failure of a gateway, the next one of the provider. */
  #next(callId: string, refusal: SipAnswer): Promise<readonly ForkTarget[]> | undefined {
    const { target, address } = this.#called.get(callId) as Reached;
    const next = this.#inTurn.next(callId, { callee: target.callee, address }, refusal);
    return next && this.#instead(callId, [this.#branch(target, next)]);
  }

  async #instead(callId: string, branches: readonly Branch[]): Promise<readonly ForkTarget[]> {
    try {
      await this.#offer(branches);
      await this.#sign(branches);
      return branches.map((branch) => this.#target(branch));
    } catch (err) {
      this.#tools.failed(err, 'call to another address', { callid: callId });
      for (const branch of branches) this.#options.dialog.removeBranch(branch.callId);
      return [];
    }
  }

  /** No phone answered: the call goes to the scenario or room to which one of them forwarded it. */
  async #callAway({ decision, ...to }: ForwardedAway): Promise<void> {
    this.#offers.close();
    await this.#early?.catch(() => undefined);
    const { provisional, final } = this.#tools.placeCall(decision, { ...this.#options, ...to, tail: [] });
    const first = await provisional;
    if (first.status < 200) this.progress.progress(first);
    this.progress.finish(await final);
  }

  #provisional(callId: string, provisional: SipAnswer, sdp: string | undefined): void {
    const { caller, dialog, ownSound, preAnswer } = this.#options;
    const mayHear = ownSound !== true && preAnswer === undefined;
    this.progress.progress(provisional);
    this.#heard(callId, provisional);
    if (!this.#ringing.has(callId) && (provisional.status === 180 || provisional.status === 183)) {
      this.#ringing.add(callId);
      this.#tools.dialogs.ringing(dialog, callId);
    }
    if (sdp !== undefined) this.#earlySdp.set(callId, sdp);
    if (sdp !== undefined && this.#early === undefined && mayHear) {
      this.#early = this.#earlyMedia(callId, sdp);
      this.#early.catch((err: unknown) => this.#tools.failed(err, 'early media', caller));
    } else if (provisional.status === 180 && this.#early === undefined && ownSound !== true) {
      caller.ring();
    }
  }

  #heard(callId: string, said: SipAnswer): void {
    const { target, address } = this.#called.get(callId) as Reached;
    this.#inTurn.heard(callId, { callee: target.callee, address }, said);
  }

  async #earlyMedia(callId: string, sdp: string): Promise<void> {
    const { caller, beforeMedia } = this.#options;
    const endpoint = this.#offers.of(callId)?.endpoint;
    const callers = await caller.prepareMedia();
    if (endpoint === undefined || callers === undefined) return;
    await endpoint.modify(sdp);
    await beforeMedia?.();
    await callers.bridge(endpoint);
    caller.earlyMedia();
  }

  /**
   * Applies the session description of a phone that answered, and lets the pre-answer scenario, if any, serve the phone.
   * @returns the refusal of an unusable one, or of a phone that does not take the call
   */
  async #accept(callId: string, answered: AnsweredBranch): Promise<SipAnswer | undefined> {
    // An answer that was in a provisional response need not be repeated (RFC 3261 section 13.2.1).
    this.#heard(callId, answer(200, undefined, false));
    const sdp = answered.sdp === '' ? this.#earlySdp.get(callId) : answered.sdp;
    try {
      if (sdp === undefined) throw new MediaError('the called phone answered without a session description', 488);
      await this.#offers.of(callId)?.endpoint.modify(sdp);
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
    const { target, address } = this.#called.get(callId) as Reached;
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
    const { target } = this.#called.get(callId) as Reached;
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
      await Promise.all([caller.answered(), this.#early?.catch(() => undefined)]);
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

/** The party of a leg to an address. */
function partyAt({ party }: Callee, { gateway }: CalleeAddress): Party {
  return party.kind === 'provider' && gateway !== undefined ? { ...party, gateway: gateway.name } : party;
}
