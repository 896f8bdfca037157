import {
  type Answer,
  bestAnswer,
  type CallEnd,
  type CallNotice,
  type CallPort,
  CallStateError,
  type CancellableTransfer,
  type Clock,
  type CollectOptions,
  type CollectResult,
  type DialogSide,
  type DialOptions,
  type EnterOptions,
  type HuntTransfer,
  type ListenOptions,
  type ListenResult,
  type MachineOptions,
  type MachineResult,
  type OutgoingCall,
  type OwnCall,
  type PartyInfo,
  type PlayOptions,
  type PlayResult,
  type PreAnswer,
  type RecordOptions,
  type RecordResult,
  type ReferOptions,
  type RingbackOptions,
  type RoomTransfer,
  type SayOptions,
  ScenarioCallState,
  type SipMessage,
  type SuperviseOptions,
  type TailStep,
  type Transfer,
} from '../../runs/index.ts';
import type { CallState, PlaySource } from '../../language/index.ts';
import { AT_ONCE, type ScriptedAnswer, statusText } from './answers.ts';
import { type CallEvent, type CallNames, type CallScript, SIMULATED_CALL, SIMULATED_DOMAIN } from './call-script.ts';
import { type Called, callFirst, callPhone } from './calling.ts';
import { ANSWERING, type PhoneScript, Phones } from './phones.ts';
import { SimulatedParty } from './simulated-party.ts';
import type { Turn } from './turns.ts';

export type { ScriptedAnswer } from './answers.ts';

/** A simulated call. */

/** Duration of a sent digit, with the pause after it. */
const DIGIT_MS = 290;
const DEFAULT_TIMEOUT_MS = 30_000;
/** The state in which a call begins, by its direction. */
const INITIAL_STATES = { incoming: 'incoming', outgoing: 'none', connected: 'connected' } as const;

/** A call whose other side follows a script: components run against it as against a phone, without SIP. */
export class SimulatedCall implements OwnCall {
  readonly domain = SIMULATED_DOMAIN;
  readonly dialled: string | undefined;
  readonly events: CallEvent[] = [];
  readonly names: CallNames;
  readonly #clock: Clock;
  readonly #script: CallScript;
  readonly #phones: Phones;
  readonly #end = new AbortController();
  /** Refusals of those who were called for the unanswered caller. */
  readonly #refusals: Answer[] = [];
  /** The latest transfer is that of a caller who was not answered. */
  #forwarding = false;
  /** They stay when a called phone becomes the other party. */
  readonly #watchers = new Set<(notice: CallNotice) => boolean>();
  #party: SimulatedParty;
  #label: string;
  readonly #state: ScenarioCallState;
  #opponent: PartyInfo | undefined;

  constructor(clock: Clock, script: CallScript = {}) {
    this.#clock = clock;
    this.#script = script;
    this.#phones = script.phones instanceof Phones ? script.phones : new Phones(script.phones);
    this.names = script.names ?? SIMULATED_CALL;
    this.#label = script.label === undefined || script.label === '' ? '' : `${script.label}: `;
    this.#party = this.#makeParty(script.turns ?? (script.presses ?? []).map(toTurn));
    const { direction = 'incoming' } = script;
    this.#state = new ScenarioCallState(INITIAL_STATES[direction]);
    this.dialled = direction === 'incoming' ? (script.to ?? '500') : undefined;
    this.#opponent = direction === 'outgoing' ? undefined : party(script.from ?? '101');
    if (direction === 'connected') this.#talk();
  }

  get own(): this {
    return this;
  }

  get callid(): string {
    return this.names.callid;
  }

  get state(): CallState {
    return this.#state.state;
  }

  get opponent(): PartyInfo | undefined {
    return this.#opponent;
  }

  get dialogid(): string | undefined {
    return this.#state.is('none') ? undefined : this.names.dialogid;
  }

  get opponentSide(): 'a' | 'b' | undefined {
    if (this.#state.is('none')) return undefined;
    return this.dialled === undefined ? 'b' : 'a';
  }

  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  unreached(refusal: Answer): void {
    this.#refusals.push(refusal);
  }

  /** True for a caller who is not answered yet, also while others are called for it. */
  get #unanswered(): boolean {
    return this.#state.is('incoming') || (this.#state.is('transferred') && this.#forwarding);
  }

  /** Turns that the other party did not reach. */
  get turnsLeft(): readonly Turn[] {
    return this.#party.left;
  }

  /** Ends the call from outside: a hang-up by the other party, or a REST request. */
  end(by: CallEnd['by'], reason: string): void {
    if (this.#end.signal.aborted) return;
    this.#note(`ended by ${by}: ${reason}`);
    this.#state.step('over');
    const end: CallEnd = { by, reason };
    this.#end.abort(end);
  }

  async ring(): Promise<void> {
    this.#state.require('ring', 'incoming');
    this.#note('ring');
  }

  async answer(): Promise<void> {
    if (this.#state.is('connected')) return;
    this.#state.require('answer', 'incoming');
    this.#note('answer');
    this.#connect();
  }

  async reject(status: number, reason?: string): Promise<void> {
    this.#state.require('reject', 'incoming');
    this.#note(`reject ${statusText(status, reason)}`);
    this.end('scenario', `rejected ${status}`);
  }

  async hangup(): Promise<void> {
    if (this.#unanswered) {
      const { status, reason } = bestAnswer(this.#refusals) ?? { status: 480, reason: undefined };
      this.#note(`reject ${statusText(status, reason)}`);
      return this.end('scenario', `rejected ${status}`);
    }
    if (this.#state.is('ended')) return;
    this.#note('hangup');
    this.end('scenario', 'hangup');
  }

  async play(sources: readonly PlaySource[], options: PlayOptions): Promise<PlayResult> {
    this.#state.require('play', 'connected');
    return this.#party.play(sources, options);
  }

  async ringback({ signal, sounds }: RingbackOptions): Promise<void> {
    const incoming = this.#state.is('incoming');
    if (incoming) this.#party.connected();
    if (incoming && sounds === undefined) await this.ring();
    if (!incoming) this.#state.require('ringback', 'connected');
    if (sounds !== undefined && !incoming) await this.#party.play(sounds, { signal, repeat: Infinity });
    if (sounds !== undefined) this.#party.hear(sounds);
    const over = AbortSignal.any([signal, this.#end.signal]);
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
    throw over.reason;
  }

  async collect(options: CollectOptions): Promise<CollectResult> {
    this.#state.require('collect', 'connected');
    return this.#party.collect(options);
  }

  async say(text: string, options: SayOptions): Promise<PlayResult> {
    this.#state.require('say', 'connected');
    return this.#party.say(text, options);
  }

  async listen(options: ListenOptions): Promise<ListenResult> {
    this.#state.require('recognise', 'connected');
    return this.#party.listen(options);
  }

  async detectMachine(options: MachineOptions): Promise<MachineResult> {
    this.#state.require('detect_machine', 'connected');
    return this.#party.detectMachine(options);
  }

  async record(options: RecordOptions): Promise<RecordResult> {
    this.#state.require('record', 'connected');
    return this.#party.record(options);
  }

  async echo(signal: AbortSignal): Promise<void> {
    this.#state.require('echo', 'connected');
    this.#note('echo');
    await this.#party.forEver(signal);
  }

  async sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void> {
    this.#state.require('sendDtmf', 'connected');
    for (const step of steps) {
      if (step.kind === 'digits') this.#note(`send digits ${step.digits}`);
      const lasts = step.kind === 'digits' ? step.digits.length * DIGIT_MS : step.ms;
      await this.#clock.sleep(lasts, AbortSignal.any([signal, this.#end.signal]));
    }
  }

  async sendMessage({ method, body }: SipMessage): Promise<Answer> {
    this.#state.require('send_sip', 'connected');
    this.#note(`send ${method} ${body}`.trim());
    return { status: 200, reason: 'OK', line: 'SIP/2.0 200 OK', local: false };
  }

  async bridge(other: CallPort, signal: AbortSignal): Promise<'this' | 'other'> {
    this.#state.require('bridge', 'connected');
    if (!(other instanceof SimulatedCall)) throw new CallStateError('bridge', other.state);
    other.#state.require('bridge', 'connected');
    this.#note(`bridge ${other.opponent?.number ?? ''}`);
    try {
      await this.#party.forEver(AbortSignal.any([signal, other.endSignal]));
    } catch (error) {
      if (!this.#end.signal.aborted && !other.endSignal.aborted) throw error;
    }
    return this.#end.signal.aborted ? 'this' : 'other';
  }

  async supervise({ dialogid, mode, signal, ended }: SuperviseOptions): Promise<void> {
    this.#state.require('supervise', 'connected');
    this.#note(`supervise ${dialogid}: ${mode}`);
    const starred = new AbortController();
    const unwatch = this.watch((notice) => {
      if (notice.kind !== 'dtmf') return false;
      if (notice.digit === '*') starred.abort();
      return '0123*'.includes(notice.digit);
    });
    try {
      await this.#party.forEver(AbortSignal.any([signal, ended, starred.signal]));
    } catch (error) {
      if (signal.aborted || this.#end.signal.aborted) throw error;
    } finally {
      unwatch();
    }
  }

  watch(watcher: (notice: CallNotice) => boolean): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  dial(options: DialOptions): OutgoingCall {
    const phone = this.#phone(options.to) ?? scripted(this.#script.dialled) ?? ANSWERING;
    if (this.#script.label === '') this.#label = `${options.to}: `;
    return this.#out('dial', options.to, () => this.#call(phone, { lowest: 100, ...options }));
  }

  takeOver({ dialogid, side }: DialogSide): OutgoingCall {
    return this.#out('takeOver', `${dialogid} ${side}`, () =>
      this.#call(this.#phone(dialogid) ?? { answers: this.#script.dialled ?? AT_ONCE }, { lowest: 100 }),
    );
  }

  refer(options: ReferOptions): Transfer {
    const phone = this.#target(options.to);
    return this.#transfer('refer', options.to, options, (cancelled) =>
      this.#call(phone, { lowest: 101, cancelled, ...options }),
    );
  }

  join({ dialogid, side }: DialogSide): Transfer {
    this.#state.require('join', 'connected');
    return this.#transfer('join', `${dialogid} ${side}`, {}, () =>
      this.#call({ answers: this.#script.target ?? AT_ONCE }, { lowest: 101 }),
    );
  }

  enterRoom({ room }: EnterOptions): RoomTransfer {
    // As in the demo domain, where the featurecode of conferences is *70.
    const number = /^\d*$/.test(room) ? `*70${room || '123456'}` : room;
    this.#state.require('enterRoom', 'connected');
    const transfer = this.#transfer('enter room', number, {}, () =>
      this.#call({ answers: this.#script.target ?? AT_ONCE }, { lowest: 101 }),
    );
    return { ...transfer, room: { confid: 'conf-1', number, participantid: 'participant-1' } };
  }

  /** The first phone to take the call wins; without one, the best refusal counts. */
  referToFirst(targets: readonly string[], options: Omit<ReferOptions, 'to'>): HuntTransfer {
    let answeredBy = Promise.resolve<string | undefined>(undefined);
    const transfer = this.#transfer('refer to first of', targets.join(' '), options, (cancelled) => {
      const first = callFirst(targets, (label, lost) =>
        this.#call(this.#target(label), { lowest: 101, cancelled, lost, label, ...options }),
      );
      ({ answeredBy } = first);
      return first;
    });
    return { ...transfer, answeredBy };
  }

  #phone(to: string): PhoneScript | undefined {
    return this.#phones.called(to.replace(/[',].*$/, ''));
  }

  #target(to: string): PhoneScript {
    return this.#phone(to) ?? scripted(this.#script.target) ?? ANSWERING;
  }

  #call(
    phone: PhoneScript,
    options: {
      readonly lowest: number;
      readonly timeoutMs?: number | undefined;
      readonly cancelled?: AbortSignal;
      readonly lost?: AbortSignal;
      /** Names the phone in the events, before it is connected. */
      readonly label?: string;
      readonly preAnswer?: PreAnswer | undefined;
    },
  ): Called {
    const { lowest, timeoutMs = DEFAULT_TIMEOUT_MS, cancelled, lost, label, preAnswer } = options;
    const signal = AbortSignal.any([this.#end.signal, ...(cancelled ? [cancelled] : [])]);
    return callPhone(this.#clock, phone, {
      signal,
      timeoutMs,
      lowest,
      preAnswer,
      lost,
      alone: (turns) => this.#alone(turns, label),
    });
  }

  /** The call of a scenario with a called phone, before the phone is connected with the caller. */
  #alone(turns: readonly Turn[], label = 'called'): SimulatedCall {
    const { onEvent, onSaid } = this.#script;
    const names = { callid: 'called@simulation', dialogid: 'called' };
    const told = { ...(onEvent ? { onEvent } : {}), ...(onSaid ? { onSaid } : {}) };
    const call = new SimulatedCall(this.#clock, { turns, label, names, ...told });
    call.#connect();
    return call;
  }

  #makeParty(turns: readonly Turn[]): SimulatedParty {
    const link = {
      clock: this.#clock,
      endSignal: this.#end.signal,
      watchers: this.#watchers,
      note: (what: string, sounds?: readonly string[]) => this.#note(what, sounds),
      hangUp: () => this.end('opponent', 'hung up'),
      said: (file: string, words: string) => this.#script.onSaid?.(file, words),
    };
    return new SimulatedParty(link, turns);
  }

  #out(operation: string, target: string, follow: () => Called): OutgoingCall {
    this.#state.require(operation, 'none');
    this.#note(`${operation} ${target}`);
    this.#state.step('call');
    this.#opponent = party(target);
    const { provisional, final, turns } = follow();
    void final.then(({ status }) => {
      if (this.#end.signal.aborted) return;
      if (status >= 300) return this.end('failure', statusText(status));
      if (this.#party.left.length === 0) this.#party = this.#makeParty(turns());
      this.#connect();
    });
    return { ...this.names, provisional, final };
  }

  #transfer(
    operation: string,
    target: string,
    { sounds, ringback = true }: Pick<ReferOptions, 'sounds' | 'ringback'>,
    follow: (cancelled: AbortSignal) => Pick<Called, 'provisional' | 'final'>,
  ): CancellableTransfer {
    this.#forwarding = this.#state.is('incoming');
    if (!this.#forwarding) this.#state.require(operation, 'connected');
    this.#note(`${operation} ${target}`);
    if (sounds !== undefined) this.#party.hear(sounds);
    else if (this.#forwarding && ringback) this.#note('ring');
    this.#state.step(this.#forwarding ? 'forward' : 'transfer');
    if (this.#forwarding) this.#party.connected();
    const control = new AbortController();
    const { provisional, final } = follow(control.signal);
    const { hangsUpInTransferAfter } = this.#script;
    if (hangsUpInTransferAfter !== undefined) void this.#hangUpAfter(hangsUpInTransferAfter);
    void final.then((result) => {
      if (this.#end.signal.aborted) return;
      if (result.status < 300) this.end('transfer', 'transferred');
      else if (this.#forwarding) {
        if (!control.signal.aborted) this.unreached(result);
        this.#state.step('unreached');
      } else this.#state.step('returned');
    });
    return { acallid: 'a@simulation', dialogid: 'dialog-2', provisional, final, cancel: () => control.abort() };
  }

  #connect(): void {
    this.#state.step('answered');
    this.#talk();
  }

  #talk(): void {
    this.#party.connected();
    const { hangsUpAfter } = this.#script;
    if (hangsUpAfter !== undefined) void this.#hangUpAfter(hangsUpAfter);
  }

  async #hangUpAfter(milliseconds: number): Promise<void> {
    try {
      await this.#clock.sleep(milliseconds, this.#end.signal);
      this.end('opponent', 'hung up');
    } catch {
      // The call ended before: nothing is left to hang up.
    }
  }

  #note(what: string, sounds?: readonly string[]): void {
    const own = this.#label === '';
    const event: CallEvent = {
      at: this.#clock.now(),
      what: `${this.#label}${what}`,
      ...(sounds && own ? { sounds } : {}),
    };
    this.events.push(event);
    this.#script.onEvent?.(event, this);
  }
}

function party(number: string): PartyInfo {
  return { number, login: undefined, name: undefined, domain: SIMULATED_DOMAIN, uri: `<sip:${number}@simulation>` };
}

function toTurn(digits: string): Turn {
  return digits === '' ? { kind: 'silence' } : { kind: 'press', digits };
}

function scripted(answers: readonly ScriptedAnswer[] | undefined): PhoneScript | undefined {
  return answers && { answers };
}
