/** A scenario's call over the switch. */
import type { DomainName } from '../../domain-name/index.ts';
import {
  type Answer,
  bestAnswer,
  type CallEnd,
  type CallNotice,
  type CallPort,
  CallStateError,
  type CancellableTransfer,
  type DialogSide,
  type DialOptions,
  type DtmfProto,
  type EnterOptions,
  type HuntTransfer,
  type OutgoingCall,
  type OwnCall,
  type PartyInfo,
  type ReferOptions,
  type RingbackOptions,
  type RoomTransfer,
  ScenarioCallState,
  type ServingRun,
  type SipMessage,
  type SuperviseOptions,
  splitDtmfTail,
  type TailStep,
  type TakeOverOptions,
  type TransferOptions,
} from '../../runs/index.ts';
import type { CallState } from '../../language/index.ts';
import { aborted, type MediaEndpoint } from '../../media/index.ts';
import { answer, bracketUri } from '../../signalling/index.ts';
import { failedAttempt, failureAnswer, failureCause } from '../placing/attempt.ts';
import { CallMedia, type ListenTo } from '../sound/call-media.ts';
import { freshState } from '../dialogs/carried-state.ts';
import { dialRoute } from '../placing/dial-route.ts';
import { limitReached } from '../dialogs/domain-limit.ts';
import { CallDialog } from '../dialogs/dialog.ts';
import type { HeldParty } from '../transfers/held-party.ts';
import { type BridgeSide, bridgeSides } from './ivr-bridge.ts';
import { IvrLeg } from '../legs/ivr-leg.ts';
import { type GivenAway, IvrTransfers } from './ivr-transfers.ts';
import type { CallingLeg, EndCause } from '../legs/leg.ts';
import { type Party, partyInfo } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';
import { takeOver } from '../transfers/take-over.ts';

/** A scenario's incoming call, and what its caller is told. */
export interface IncomingScenarioCall {
  readonly dialog: CallDialog;
  readonly opponent: CallingLeg;
  readonly party: Party;
  onRing(ringing: Answer): void;
  /** Opens the caller's media before the answer. @returns false when the caller cannot hear it */
  earlyMedia(): Promise<boolean>;
  /** Answers the caller; rejects when the caller is gone. */
  answer(): Promise<void>;
  /** Others are called for the caller from now on, or no longer. */
  calling(others: boolean): void;
  /** Called once, with the scenario's answer to the call. */
  onFinal(final: Answer): void;
}

/** A scenario's call over the switch: its own leg, its opponent, and which operation is allowed in which state. */
export class IvrCall extends CallMedia implements OwnCall {
  readonly leg: IvrLeg;
  readonly domain: DomainName;
  readonly dialled: string | undefined;
  readonly #tools: SwitchTools;
  /** It serves a caller, whose call counts already. */
  #forCaller = false;
  readonly #incoming: IncomingScenarioCall | undefined;
  readonly #transfers: IvrTransfers;
  readonly #end = new AbortController();
  readonly #watchers = new Set<(notice: CallNotice) => boolean>();
  readonly #state: ScenarioCallState;
  /** Refusals of those who were called for the unanswered caller. */
  readonly #refusals: Answer[] = [];
  #dtmfProto: DtmfProto = 'rfc2833';
  /** The latest transfer is that of a caller who was not answered. */
  #forwarding = false;
  #dialog: CallDialog | undefined;
  #opponent: CallingLeg | undefined;
  #opponentInfo: PartyInfo | undefined;
  #replaced = new AbortController();
  /** The opponent's former peer, if the opponent was taken over. */
  #takenFrom: Party | undefined;
  /** The former peer, while it is on hold. */
  #held: HeldParty | undefined;
  #unwatchDigits: () => void = () => undefined;

  private constructor(tools: SwitchTools, party: Party, incoming: IncomingScenarioCall | undefined) {
    super();
    this.#tools = tools;
    this.#incoming = incoming;
    this.#state = new ScenarioCallState(incoming === undefined ? 'none' : 'incoming');
    this.domain = party.domain;
    this.leg = new IvrLeg(party, {
      released: (cause) => this.#released(cause),
      held: (held) => void this.#notice({ kind: held ? 'hold' : 'unhold' }),
      messaged: (message) => void this.#notice({ kind: 'sip', ...message }),
      digits: (digits) => this.#receiveDigits(digits),
      gone: this.endSignal,
      quiet: () => this.quiet(),
      peerChanged: () => this.#opponentReplaced(),
    });
    this.#transfers = new IvrTransfers(tools, {
      domain: party.domain,
      state: () => this.state,
      giveAway: (operation, forwards) => this.#giveAway(operation, forwards),
      settled: (result, cancelled) => this.#transferred(result, cancelled),
    });
    this.#dialog = incoming?.dialog;
    this.#opponent = incoming?.opponent;
    this.#opponentInfo =
      incoming === undefined ? undefined : partyInfo(incoming.opponent.party, incoming.opponent.shownAs);
    this.dialled = incoming === undefined || party.kind !== 'ivr' ? undefined : party.number;
  }

  /** The call of a scenario that was called. */
  static incoming(tools: SwitchTools, incoming: IncomingScenarioCall): IvrCall {
    return new IvrCall(tools, incoming.party, incoming);
  }

  /** A call that a scenario may place with `dial`. */
  static idle(tools: SwitchTools, domain: DomainName, forCaller: boolean): IvrCall {
    const call = new IvrCall(tools, { kind: 'ivr', domain, number: 'ivr', name: undefined }, undefined);
    call.#forCaller = forCaller;
    return call;
  }

  servedBy({ id, scenario, operation }: ServingRun): void {
    this.leg.operation = operation ? id : undefined;
    this.leg.about = operation ? undefined : { run: { id, scenario } };
  }

  get own(): this {
    return this;
  }

  get callid(): string {
    return this.leg.callid;
  }

  get state(): CallState {
    return this.#state.state;
  }

  get dialogid(): string | undefined {
    return this.#dialog?.dialogid;
  }

  get opponent(): PartyInfo | undefined {
    return this.#opponentInfo;
  }

  get opponentSide(): 'a' | 'b' | undefined {
    if (this.#dialog === undefined) return undefined;
    return this.#dialog.a === this.leg ? 'b' : 'a';
  }

  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  ring(): Promise<void> {
    this.#state.require('ring', 'incoming');
    this.#incoming?.onRing(answer(180, undefined, false));
    return Promise.resolve();
  }

  override async ringback(options: RingbackOptions): Promise<void> {
    if (!this.#unanswered) return super.ringback(options);
    this.#incoming?.calling(true);
    try {
      if (options.sounds !== undefined && (await this.#incoming?.earlyMedia()) === true)
        return await super.ringback(options);
      if (this.#unanswered) this.#incoming?.onRing(answer(180, undefined, false));
      await aborted(options.signal);
      throw options.signal.reason;
    } finally {
      if (this.#state.is('incoming')) this.#incoming?.calling(false);
    }
  }

  unreached(refusal: Answer): void {
    this.#refusals.push(refusal);
  }

  /** True for a caller who is not answered yet, also while others are called for it. */
  get #unanswered(): boolean {
    return this.#state.is('incoming') || (this.#state.is('transferred') && this.#forwarding);
  }

  async answer(): Promise<void> {
    if (this.#state.is('connected')) return;
    this.#state.require('answer', 'incoming');
    // The scenario's answer establishes the dialog, before the caller gets the 200.
    if (this.#dialog?.establish(this.leg) !== true) throw new CallStateError('answer', this.state);
    try {
      await this.#incoming?.answer();
    } catch (error) {
      this.#dialog.end(failureCause(failureAnswer(error)));
      throw error;
    }
    this.#state.take('answered', 'answer');
    this.#watchDigits();
    this.#incoming?.onFinal(answer(200, 'OK', false));
  }

  reject(status: number, reason?: string): Promise<void> {
    this.#state.require('reject', 'incoming');
    return this.#refuse(status, reason);
  }

  #refuse(status: number, reason: string | undefined): Promise<void> {
    this.#finish({ by: 'scenario', reason: 'rejected' });
    this.#incoming?.onFinal(answer(status, reason, false));
    return Promise.resolve();
  }

  hangup(): Promise<void> {
    if (this.#unanswered) {
      const { status, reason } = bestAnswer(this.#refusals) ?? { status: 480, reason: undefined };
      return this.#refuse(status, reason);
    }
    // The transferred party and the ringing target are in the new dialog.
    if (this.#state.is('transferred')) this.#transfers.dialog?.end({ by: 'a', status: 480, reason: 'Hangup' });
    if (this.#state.is('none')) this.#finish({ by: 'scenario', reason: 'hangup' });
    if (this.#state.is('outgoing') || this.#state.is('connected')) {
      const by = this.#dialog?.a === this.leg ? 'a' : 'b';
      this.#finish({ by: 'scenario', reason: 'hangup' });
      this.#dialog?.end({ by, status: 480, reason: 'Hangup' });
      // If the opponent has transferred the call, the ringing target is in the leg's next dialog.
      this.leg.owner?.legEnded(this.leg, 'Hangup');
    }
    return Promise.resolve();
  }

  bridge(other: CallPort, signal: AbortSignal): Promise<'this' | 'other'> {
    if (!(other instanceof IvrCall) || other === this) throw new CallStateError('bridge', other.state);
    const theirs = other.#side();
    return this.during('bridge', signal, (_, until) =>
      other.during('bridge', until, (__, either) => bridgeSides(this.#side(), theirs, either)),
    );
  }

  async sendMessage(message: SipMessage): Promise<Answer> {
    this.#state.require('send_sip', 'connected');
    if (!(this.#opponent instanceof PhoneLeg)) return answer(481, undefined, true);
    return this.#opponent.sendMessage(message);
  }

  sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void> {
    return this.during('send_dtmf', signal, async (_, until) => {
      await this.#opponent?.dtmf?.send(steps, this.#dtmfProto, until);
    });
  }

  async supervise({ dialogid, side, media, mode, signal }: SuperviseOptions): Promise<void> {
    this.media('supervise');
    const dialog = this.#tools.dialogs.find(dialogid);
    const own = dialog?.isOf(this.domain) === true ? dialog.leg(side)?.endpoint : undefined;
    const server = media === undefined ? own?.server : this.#tools.mediaServer(media.server);
    const target = media ?? own;
    if (target === undefined || server === undefined) return;
    // Only channels of one media server hear each other.
    await this.#opponent?.prepareMedia(server);
    await this.during('supervise', signal, (endpoint, until) => endpoint.supervise(target, mode, until));
  }

  #side(): BridgeSide {
    this.media('bridge');
    const opponent = (): CallingLeg => this.#opponent as CallingLeg;
    const leaving = (): boolean => this.leaving;
    const replaced = (): AbortSignal => this.replaced;
    return {
      get endpoint() {
        return opponent().endpoint as MediaEndpoint;
      },
      get replaced() {
        return replaced();
      },
      get leaving() {
        return leaving();
      },
      moveTo: (server) => opponent().prepareMedia(server),
      ended: this.#end.signal,
      get held() {
        return opponent().held;
      },
      onHold: (listener) =>
        this.watch(({ kind }) => {
          if (kind === 'hold' || kind === 'unhold') listener(kind === 'hold');
          return false;
        }),
    };
  }

  watch(watcher: (notice: CallNotice) => boolean): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  dial(options: DialOptions): OutgoingCall {
    this.#state.take('call', 'call');
    const { number, tail } = splitDtmfTail(options.to);
    this.leg.shownAs = { number: options.callerNumber, name: options.callerName };
    this.#dtmfProto = options.dtmfProto ?? 'rfc2833';
    const isFull = !this.#forCaller && limitReached(this.#tools, this.domain) !== undefined;
    const dialog = this.#tools.dialogs.open({
      a: this.leg,
      localuri: bracketUri(number, this.domain),
      remoteuri: bracketUri(options.callerNumber, this.domain),
      site: this.#tools.site,
      carried: { ...freshState(options.binding), operation: this.leg.madeBy },
    });
    this.#dialog = dialog;
    const decision = dialRoute(this.#tools.directory, this.domain, number, options);
    const attempt =
      decision === undefined || isFull
        ? failedAttempt(isFull ? 503 : 404)
        : this.#tools.placeCall(decision, {
            dialog,
            caller: this.leg,
            domain: this.domain,
            dialled: number,
            tail,
            callerNumber: options.callerNumber,
            callerName: options.callerName,
            timeoutMs: options.timeoutMs,
            headers: options.headers ?? {},
            dtmfProto: this.#dtmfProto,
            ...(options.preAnswer === undefined ? {} : { preAnswer: options.preAnswer }),
          });
    const final = attempt.final.then((result) => this.#dialled(dialog, result));
    return { callid: this.callid, dialogid: dialog.dialogid, provisional: attempt.provisional, final };
  }

  takeOver(side: DialogSide & TakeOverOptions): OutgoingCall {
    this.#state.take('call', 'takeOver');
    const final = this.#takeOver(side);
    return { callid: this.callid, dialogid: '', provisional: final, final };
  }

  join(side: DialogSide & TransferOptions): CancellableTransfer {
    return this.#transfers.join(side);
  }

  refer(options: ReferOptions): CancellableTransfer {
    return this.#transfers.refer(options);
  }

  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer & CancellableTransfer {
    return this.#transfers.referToFirst(targets, options);
  }

  enterRoom(options: EnterOptions): RoomTransfer {
    return this.#transfers.enterRoom(options);
  }

  /** @throws CallStateError also while another party is about to replace the opponent */
  #giveAway(operation: string, forwards = false): GivenAway {
    if (this.leaving) throw new CallStateError(operation, 'transferred');
    this.#forwarding = forwards && this.#state.is('incoming');
    this.#state.take(this.#forwarding ? 'forward' : 'transfer', operation);
    if (this.#forwarding) this.#incoming?.calling(true);
    return {
      unanswered: this.#forwarding
        ? {
            dialog: this.#dialog as CallDialog,
            caller: this.#opponent as CallingLeg,
            scenario: this.leg,
            ringback: (options) => this.ringback(options),
          }
        : undefined,
      dialog: this.#dialog as CallDialog,
      opponent: this.#opponent as CallingLeg,
      takenFrom: this.#takenFrom,
      held: this.#held,
    };
  }

  /** A transfer ends the scenario's call. After a failed one the opponent is back. */
  #transferred(result: Answer, cancelled: boolean): void {
    if (result.status < 300) {
      this.#finish({ by: 'transfer', reason: result.line });
      if (this.#forwarding) this.#incoming?.onFinal(result);
    } else if (this.#forwarding) {
      if (!cancelled) this.unreached(result);
      if (this.#state.step('unreached') !== undefined) this.#incoming?.calling(false);
    } else this.#state.step('returned');
  }

  async #takeOver(side: DialogSide & TakeOverOptions): Promise<Answer> {
    const taken = await takeOver(this.#tools, this.leg, side);
    if (typeof taken === 'number') {
      const refusal = answer(taken, undefined, true);
      this.#finish({ by: 'failure', reason: refusal.line });
      return refusal;
    }
    this.#dialog = taken.dialog;
    this.#takenFrom = taken.from;
    this.#held = taken.held;
    // The scenario may have hung up meanwhile.
    if (this.#end.signal.aborted) taken.held?.release();
    return this.#dialled(taken.dialog, answer(200, 'OK', false));
  }

  #dialled(dialog: CallDialog, final: Answer): Answer {
    const opponent = dialog.b as CallingLeg | undefined;
    if (final.status < 300 && opponent !== undefined && this.#state.step('answered') !== undefined) {
      this.#setOpponent(opponent);
    } else {
      this.#finish({ by: 'failure', reason: final.line });
      dialog.end(failureCause(final));
    }
    return final;
  }

  #setOpponent(opponent: CallingLeg): void {
    this.#opponent = opponent;
    this.#opponentInfo = partyInfo(opponent.party, opponent.shownAs);
    this.#watchDigits();
  }

  /** The opponent transferred the call, or was replaced: the scenario goes on with the new opponent. */
  #opponentReplaced(): void {
    const dialog = this.leg.owner;
    if (!this.#state.is('connected') || !(dialog instanceof CallDialog)) return;
    this.#dialog = dialog;
    this.#takenFrom = undefined;
    this.#setOpponent(dialog.opposite(this.leg) as CallingLeg);
    const replaced = this.#replaced;
    this.#replaced = new AbortController();
    replaced.abort(new CallStateError('this', 'transferred'));
  }

  protected override get replaced(): AbortSignal {
    return this.#replaced.signal;
  }

  protected override get leaving(): boolean {
    return this.#state.is('connected') && this.leg.owner !== this.#dialog;
  }

  /** Passes the opponent's digits to the watchers; called once the opponent has media. */
  #watchDigits(): void {
    this.#unwatchDigits();
    this.#unwatchDigits =
      this.#opponent?.endpoint?.digits.watch((digit) => this.#notice({ kind: 'dtmf', digit })) ?? (() => undefined);
  }

  /** @returns whether a watcher has used the notice up */
  #notice(notice: CallNotice): boolean {
    return [...this.#watchers].map((watcher) => watcher(notice)).includes(true);
  }

  #released(cause: EndCause): void {
    const unanswered = this.#unanswered;
    const taken = cause.by === 'transfer' && !this.#state.is('transferred');
    const dialog = this.leg.owner instanceof CallDialog ? this.leg.owner : this.#dialog;
    // A scenario takes a party that was lost during the call for one that hung up.
    const lost = cause.by === 'failure' && this.#state.is('connected');
    const by = taken ? 'taken' : lost ? 'opponent' : endedBy(cause, dialog?.a === this.leg);
    this.#finish({ by, reason: cause.reason });
    if (unanswered) this.#incoming?.onFinal(answer(cause.status, cause.reason, true));
  }

  #finish(end: CallEnd): void {
    if (this.#state.step('over') === undefined) return;
    this.#unwatchDigits();
    this.#held?.release();
    this.#end.abort(end);
  }

  /** Takes digits as if the opponent had pressed them. */
  async #receiveDigits(digits: string): Promise<void> {
    for (const digit of digits) await this.#opponent?.endpoint?.receiveDtmf(digit);
  }

  protected get listenTo(): ListenTo | undefined {
    return this.#tools.listenTo;
  }

  protected media(operation: string): MediaEndpoint {
    if (operation !== 'ringback' || !this.#unanswered) this.#state.require(operation, 'connected');
    const endpoint = this.#opponent?.endpoint;
    if (endpoint === undefined) throw new CallStateError(operation, this.state);
    return endpoint;
  }
}

function endedBy(cause: EndCause, scenarioIsA: boolean): CallEnd['by'] {
  if (cause.by === 'external' || cause.by === 'transfer' || cause.by === 'failure') return cause.by;
  return (cause.by === 'a') === scenarioIsA ? 'scenario' : 'opponent';
}
