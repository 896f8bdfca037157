import { randomUUID } from 'node:crypto';
import type { TailStep } from '../../runs/index.ts';
import { type MediaEndpoint, MediaError } from '../../media/index.ts';
import { answer, bracketUri, callerAddr, LocalDescription, nameAddr, type SipAnswer } from '../../signalling/index.ts';
import type { Callee, CalleeAddress } from '../addresses/callee.ts';
import { type Attempt, type AttemptOptions, AttemptProgress, failedAttempt, failureCause } from './attempt.ts';
import { Fork, type ForkOutcome, type ForkTarget } from './fork.ts';
import { forwardedBy, type ForwardedAway } from './forwarded.ts';
import { BranchLeg } from '../legs/branch-leg.ts';
import type { CallingLeg, Device } from '../legs/leg.ts';
import { uriOf } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { servePreAnswer } from './pre-answer.ts';
import { refusalForCaller } from './refusal.ts';
import { sendDigits } from '../legs/send-digits.ts';
import type { SwitchTools } from '../tools.ts';

/** Somebody to call, and how it was dialled. */
export interface Called {
  readonly callee: Callee;
  readonly dialled: string;
  /** Sent to it after the answer. */
  readonly tail: readonly TailStep[];
}

/** Calls every address of a callee; the first that answers has the call. */
export function callCallee(tools: SwitchTools, callee: Callee, options: AttemptOptions): Attempt {
  const { dialled, tail } = options;
  return callFirst(tools, [{ callee, dialled, tail }], options);
}

/**
 * Calls every address of several callees at once: the first that answers has the call, and the others are cancelled
 * before it is connected.
 * @returns answeredBy: what was dialled for the callee that answered; undefined when none did
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

/** An address that was called, and for whom. */
interface Reached {
  readonly target: Called;
  readonly address: CalleeAddress;
}

/** An address that is to be called. */
interface Branch {
  readonly callee: Callee;
  readonly address: CalleeAddress;
  readonly callId: string;
  readonly uris: LegUris;
}

class PhonesCall {
  readonly progress = new AttemptProgress();
  readonly #tools: SwitchTools;
  readonly #options: AttemptOptions;
  readonly #targets: readonly Called[];
  readonly #description = new LocalDescription();
  /** Who is being called, by Call-ID of the branch. */
  readonly #called = new Map<string, Reached>();
  /** The latest session descriptions of phones that have not answered, by Call-ID. */
  readonly #earlySdp = new Map<string, string>();
  /** Who rings, by Call-ID. */
  readonly #ringing = new Set<string>();
  /** Accounts that are being called: a redirection to one of them leads in a circle. */
  readonly #accounts = new Set<string>();
  #fork: Fork | undefined;
  #endpoint: MediaEndpoint | undefined;
  #early: Promise<void> | undefined;
  #answeredBy: string | undefined;
  /** Where a phone forwarded the call that is no phone. */
  #away: ForwardedAway | undefined;
  /** Somebody else has the call. */
  #picked = false;
  /** The SIP server that calls whoever has no other. */
  #via: string | undefined;

  constructor(tools: SwitchTools, targets: readonly Called[], options: AttemptOptions) {
    this.#tools = tools;
    this.#options = options;
    this.#targets = targets;
  }

  get answeredBy(): string | undefined {
    return this.#answeredBy;
  }

  async start(): Promise<void> {
    const { dialog, caller, timeoutMs } = this.#options;
    const branches = this.#targets.flatMap((target) => this.#branches(target));
    const via = branches.find(({ address }) => address.via !== undefined)?.address.via ?? this.#tools.sipServer();
    this.#via = via;
    // Both sides' endpoints are made side by side, as far as it is clear where; the caller's own failure (no common codec) is
    // found before it rings.
    const prepared = caller.prepareMedia();
    prepared.catch(() => undefined);
    const on = caller.mediaServer ?? this.#tools.onlyMediaServer() ?? (await prepared)?.server;
    this.#endpoint = await this.#tools.createEndpoint({ via, on });
    const endpoint = this.#endpoint;
    await prepared;
    if (dialog.ended.aborted) return this.#giveUp(answer(487, undefined, true));
    const offer = this.#description.of(endpoint.localSdp);
    this.#fork = new Fork(
      (invite) => this.#tools.invite(invite),
      branches.map((branch) => this.#target(branch, offer)),
      timeoutMs,
      {
        provisional: ({ callId }, provisional, sdp) => this.#provisional(callId, provisional, sdp),
        failed: ({ callId }, refusal) => this.#refused(callId, refusal),
        accept: ({ callId }, sdp) => this.#accept(callId, sdp),
        redirected: ({ callId }, elsewhere) => this.#redirected(callId, elsewhere, offer),
      },
    );
    dialog.pickup = (leg, part) => this.#pickedUp(leg, part);
    const ended = () => this.#fork?.cancel(answer(487, undefined, true));
    dialog.ended.addEventListener('abort', ended, { once: true });
    const outcome = await this.#fork.outcome;
    dialog.ended.removeEventListener('abort', ended);
    dialog.pickup = undefined;
    if (this.#picked) return;
    if (outcome.answered) await this.#answered(outcome);
    else if (this.#away !== undefined && !dialog.ended.aborted) await this.#goAway(this.#away);
    else this.#giveUp(outcome.answer);
  }

  /** Somebody else answers: the phones stop ringing. */
  async #pickedUp(leg: CallingLeg, part: () => void): Promise<boolean> {
    const { dialog, caller, domain, callerNumber, beforeMedia } = this.#options;
    if (this.#picked || dialog.state !== 'forking' || dialog.ended.aborted) return false;
    this.#picked = true;
    this.#fork?.cancel(answer(487, undefined, true));
    this.#dropEndpoint();
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

  /** Something broke on our side: the caller gets the status that says most about it. */
  fail(err: unknown): void {
    const status = err instanceof MediaError ? err.status : 500;
    if (!this.#options.dialog.ended.aborted) this.#tools.failed(err, 'call', this.#options.caller);
    this.#fork?.cancel(answer(status, undefined, true));
    this.#giveUp(answer(status, undefined, true));
  }

  /** Adds a branch for every address of a callee to the dialog. */
  #branches(target: Called): Branch[] {
    const { dialog, domain, callerNumber, timeoutMs } = this.#options;
    const { callee } = target;
    const { account, party, called, host, caller } = callee;
    if (this.#accounts.has(account)) return [];
    this.#accounts.add(account);
    const uris = {
      localuri: bracketUri(caller?.number ?? callerNumber, caller?.host ?? domain),
      remoteuri: bracketUri(called, host),
    };
    return callee.addresses.map((address) => {
      const callId = `${randomUUID()}@${host}`;
      this.#called.set(callId, { target, address });
      const leg = new BranchLeg(callId, party, () => this.#fork?.cancel(answer(487, undefined, true)), {
        device: this.#device(address, callId),
        tags: () => this.#fork?.invite(callId)?.tags ?? [],
      });
      dialog.addBranch(leg, uris, Date.now() + timeoutMs);
      return { callee, address, callId, uris };
    });
  }

  /** A device that rings can be asked to answer. */
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

  #target({ callee, address, callId, uris }: Branch, sdp: string): ForkTarget {
    const { domain, callerName, callerNumber, headers } = this.#options;
    const { caller, credentials } = callee;
    const calling = this.#options.caller.party;
    return {
      uri: address.uri,
      ...(address.nextHop === undefined ? {} : { nextHop: address.nextHop }),
      via: address.via ?? this.#via,
      callId,
      from: caller ? nameAddr(callerName, caller.number, caller.host) : callerAddr(callerName, callerNumber, domain),
      to: uris.remoteuri,
      sdp,
      headers,
      ...(calling.kind === 'conference' ? { room: calling.number } : {}),
      ...(credentials === undefined ? {} : { credentials }),
    };
  }

  #refused(callId: string, refusal: SipAnswer): SipAnswer {
    this.#options.dialog.removeBranch(callId);
    const party = this.#called.get(callId)?.target.callee.party;
    return party === undefined ? refusal : refusalForCaller(this.#tools, refusal, party, { callid: callId });
  }

  /** A phone forwards the call (3xx): each account is called once. */
  #redirected(callId: string, contacts: readonly string[], sdp: string): ForkTarget[] {
    const by = this.#called.get(callId)?.target;
    if (by === undefined) return [];
    const { callees, away } = forwardedBy(this.#tools, by.callee, contacts);
    this.#away ??= away;
    return callees.flatMap((called) =>
      this.#branches({ ...called, tail: by.tail }).map((branch) => this.#target(branch, sdp)),
    );
  }

  /** No phone has taken the call: it goes to the scenario or the room that one of them named. */
  async #goAway({ decision, ...to }: ForwardedAway): Promise<void> {
    this.#dropEndpoint();
    await this.#early?.catch(() => undefined);
    const { provisional, final } = this.#tools.placeCall(decision, { ...this.#options, ...to, tail: [] });
    const first = await provisional;
    if (first.status < 200) this.progress.progress(first);
    this.progress.finish(await final);
  }

  #provisional(callId: string, provisional: SipAnswer, sdp: string | undefined): void {
    const { caller, dialog } = this.#options;
    this.progress.progress(provisional);
    if (!this.#ringing.has(callId) && (provisional.status === 180 || provisional.status === 183)) {
      this.#ringing.add(callId);
      this.#tools.dialogs.ringing(dialog, callId);
    }
    if (sdp !== undefined) this.#earlySdp.set(callId, sdp);
    if (sdp !== undefined && this.#early === undefined) {
      this.#early = this.#earlyMedia(sdp);
      this.#early.catch((err: unknown) => this.#tools.failed(err, 'early media', caller));
    } else if (provisional.status === 180 && this.#early === undefined) {
      caller.ring();
    }
  }

  async #earlyMedia(sdp: string): Promise<void> {
    const { caller, beforeMedia } = this.#options;
    const endpoint = this.#endpoint;
    const callers = await caller.prepareMedia();
    if (endpoint === undefined || callers === undefined) return;
    await endpoint.modify(sdp);
    await beforeMedia?.();
    await callers.bridge(endpoint);
    caller.earlyMedia();
  }

  /** Takes the session description of a phone that answered; gives why not where it cannot be taken. */
  async #accept(callId: string, answered: string): Promise<SipAnswer | undefined> {
    // An answer that was in a provisional response need not be repeated (RFC 3261 section 13.2.1).
    const sdp = answered === '' ? this.#earlySdp.get(callId) : answered;
    try {
      if (sdp === undefined) throw new MediaError('the called phone answered without a session description', 488);
      await this.#endpoint?.modify(sdp);
      return undefined;
    } catch (err) {
      const over = this.#picked || this.#options.dialog.ended.aborted;
      if (!over) this.#tools.failed(err, 'answer', { callid: callId });
      return answer(err instanceof MediaError ? err.status : 500, undefined, true);
    }
  }

  async #answered(outcome: ForkOutcome & { answered: true }): Promise<void> {
    const { dialog, dtmfProto } = this.#options;
    const endpoint = this.#endpoint as MediaEndpoint;
    this.#endpoint = undefined;
    const { target, address } = this.#called.get(outcome.target.callId) as Reached;
    const leg = PhoneLeg.outgoing(this.#tools, target.callee.party, {
      sip: outcome.dialog,
      endpoint,
      description: this.#description,
      allowEvents: [...(address.allowEvents ?? []), ...outcome.allowEvents],
    });
    if (!(await this.#served(leg))) return this.#declined(leg);
    // The 2xx makes the dialog, whoever still has to hear of it.
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

  /** The two talk, unless one of them has hung up by now: answered it was all the same. */
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

  /** Lets a scenario serve the phone first, where one is to; gives whether the phone is to be connected. */
  async #served(leg: PhoneLeg): Promise<boolean> {
    const { dialog, preAnswer, caller } = this.#options;
    const { endpoint } = leg;
    if (preAnswer === undefined || endpoint === undefined) return true;
    await this.#early?.catch(() => undefined);
    // Early media was heard by the caller: what comes now is for the called party alone.
    if (this.#early !== undefined && caller.endpoint !== undefined) await caller.endpoint.unbridge(endpoint);
    return servePreAnswer(leg, dialog, preAnswer, this.#tools.listenTo);
  }

  #declined(leg: PhoneLeg): void {
    const status = this.#options.dialog.ended.aborted ? 487 : 603;
    const final = answer(status, undefined, true);
    leg.release(failureCause(final));
    this.#giveUp(final);
  }

  #giveUp(final: SipAnswer): void {
    this.#dropEndpoint();
    this.progress.finish(final);
  }

  #dropEndpoint(): void {
    const endpoint = this.#endpoint;
    this.#endpoint = undefined;
    if (endpoint !== undefined) this.#tools.background(endpoint.destroy(), 'endpoint', this.#options.caller);
  }
}
