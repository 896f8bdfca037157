import {
  type Answer,
  type CallEnd,
  type CallPort,
  type CallState,
  CallStateError,
  type CollectOptions,
  type CollectResult,
  type DialOptions,
  type DialogSide,
  type OutgoingCall,
  type PartyInfo,
  type PlayOptions,
  type PlayResult,
  type PlaySource,
  type ReferOptions,
  type Transfer,
} from '../call-port.ts';
import type { Clock } from '../clock.ts';

/** What happens on the other side of a simulated call. Times are milliseconds. */
export interface CallScript {
  /** An incoming call waits for `answer`; an outgoing one for `dial`. Default `incoming`. */
  readonly direction?: 'incoming' | 'outgoing';
  /** What the other party presses: one entry for each time it is listened to; an entry may hold several digits. */
  readonly presses?: readonly string[];
  /** The other party hangs up this long after the call is connected. */
  readonly hangsUpAfter?: number;
  /** Answers of the party that is dialled. Default: rings at once, answers after a second. */
  readonly dialled?: readonly ScriptedAnswer[];
  /** Answers of the target of a transfer. Default: rings at once, answers after a second. */
  readonly target?: readonly ScriptedAnswer[];
  /** The other party hangs up this long after the transfer has begun. */
  readonly hangsUpInTransferAfter?: number;
  /** The number by which the scenario was reached, and the caller's. */
  readonly to?: string;
  readonly from?: string;
  /** Told of everything that happens, as it happens. */
  readonly onEvent?: (event: CallEvent) => void;
}

/** An answer `after` so many milliseconds; without a final one in its script, a party is silent until the time is up. */
export interface ScriptedAnswer {
  readonly after: number;
  readonly status: number;
  readonly reason?: string;
  /** Made by the node itself, not by the device. */
  readonly local?: boolean;
}

/** Something the scenario did to the call, or that happened to it. */
export interface CallEvent {
  readonly at: number;
  readonly what: string;
}

const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  302: 'Moved Temporarily',
  404: 'Not Found',
  408: 'Request Timeout',
  480: 'Temporarily Unavailable',
  486: 'Busy Here',
  487: 'Request Terminated',
  503: 'Service Unavailable',
  603: 'Decline',
};
const ANSWERS: readonly ScriptedAnswer[] = [
  { after: 0, status: 180 },
  { after: 1000, status: 200 },
];
/** What a party says that is in a call already. */
const AT_ONCE: readonly ScriptedAnswer[] = [{ after: 0, status: 200 }];
const DEFAULT_TIMEOUT_MS = 30_000;
/** How long a simulated prompt takes, whatever is in it. */
const PROMPT_MS = 1000;
/** How long the other party thinks before it presses a key. */
const PRESS_MS = 200;

/** A call whose other side follows a script: components run against it as against a phone, without SIP. */
export class SimulatedCall implements CallPort {
  readonly callid = 'ivr@simulation';
  readonly domain = 'simulation';
  readonly dialled: string | undefined;
  readonly events: CallEvent[] = [];
  readonly #clock: Clock;
  readonly #script: CallScript;
  readonly #end = new AbortController();
  readonly #presses: string[];
  #state: CallState;
  #opponent: PartyInfo | undefined;

  constructor(clock: Clock, script: CallScript = {}) {
    this.#clock = clock;
    this.#script = script;
    this.#presses = [...(script.presses ?? [])];
    const incoming = script.direction !== 'outgoing';
    this.#state = incoming ? 'incoming' : 'none';
    this.dialled = incoming ? (script.to ?? '500') : undefined;
    this.#opponent = incoming ? party(script.from ?? '101') : undefined;
  }

  get state(): CallState {
    return this.#state;
  }

  get opponent(): PartyInfo | undefined {
    return this.#opponent;
  }

  get dialogid(): string | undefined {
    return this.#state === 'none' ? undefined : 'dialog-1';
  }

  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  /** Ends the call from outside: the other party hangs up, or somebody ends it by REST. */
  end(by: CallEnd['by'], reason: string): void {
    if (this.#end.signal.aborted) return;
    this.#note(`ended by ${by}: ${reason}`);
    this.#state = 'ended';
    const end: CallEnd = { by, reason };
    this.#end.abort(end);
  }

  async ring(): Promise<void> {
    this.#require('ring', 'incoming');
    this.#note('ring');
  }

  async answer(): Promise<void> {
    this.#require('answer', 'incoming');
    this.#note('answer');
    this.#connected();
  }

  async reject(status: number, reason?: string): Promise<void> {
    this.#require('reject', 'incoming');
    this.#note(`reject ${line(status, reason)}`);
    this.end('scenario', `rejected ${status}`);
  }

  async hangup(): Promise<void> {
    if (this.#state === 'none' || this.#state === 'ended') throw new CallStateError('hangup', this.#state);
    this.#note('hangup');
    this.end('scenario', 'hangup');
  }

  async play(
    sources: readonly PlaySource[],
    { signal, stopDigits = '', repeat = 1 }: PlayOptions,
  ): Promise<PlayResult> {
    this.#require('play', 'connected');
    const rounds = Number.isFinite(repeat) ? repeat : 1;
    this.#note(`play ${sources.map(describe).join(' ')}${repeat === 1 ? '' : ` (${repeat} times)`}`);
    const next = this.#presses[0]?.[0];
    if (next !== undefined && stopDigits.includes(next)) {
      await this.#pass(PRESS_MS, signal);
      this.#take(1);
      return { digit: next, milliseconds: PRESS_MS };
    }
    const milliseconds =
      sources.reduce((sum, source) => sum + ('silenceMs' in source ? source.silenceMs : PROMPT_MS), 0) * rounds;
    await this.#pass(milliseconds, signal);
    return { digit: undefined, milliseconds };
  }

  async collect({ signal, prompt = [], min, max, timeoutMs, terminators }: CollectOptions): Promise<CollectResult> {
    this.#require('collect', 'connected');
    if (prompt.length > 0) this.#note(`prompt ${prompt.map(describe).join(' ')}`);
    const pressed = this.#presses[0];
    if (pressed === undefined || pressed === '') {
      this.#presses.shift();
      await this.#pass(prompt.length * PROMPT_MS + timeoutMs, signal);
      return { digits: '', reason: min === 0 ? 'complete' : 'timeout', terminator: undefined };
    }
    await this.#pass(PRESS_MS, signal);
    const digits = untilTerminator(pressed, max, terminators);
    // What stopped before max digits and before the end of what was pressed is a terminator.
    const terminator = digits.length < max ? pressed[digits.length] : undefined;
    this.#take(digits.length + (terminator === undefined ? 0 : 1));
    this.#note(`pressed ${digits}${terminator ?? ''}`);
    if (digits.length < min) {
      await this.#pass(timeoutMs, signal);
      return { digits, reason: 'timeout', terminator };
    }
    return { digits, reason: terminator === undefined ? 'complete' : 'terminator', terminator };
  }

  async echo(signal: AbortSignal): Promise<void> {
    this.#require('echo', 'connected');
    this.#note('echo');
    await this.#untilAborted(AbortSignal.any([signal, this.#end.signal]));
  }

  dial(options: DialOptions): OutgoingCall {
    return this.#out('dial', options.to, () => this.#answers(this.#script.dialled ?? ANSWERS, options.timeoutMs, 100));
  }

  takeOver({ dialogid, side }: DialogSide): OutgoingCall {
    const follow = () => this.#answers(this.#script.dialled ?? AT_ONCE, DEFAULT_TIMEOUT_MS, 100);
    return this.#out('takeOver', `${dialogid} ${side}`, follow);
  }

  refer(options: ReferOptions): Transfer {
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    return this.#transfer('refer', options.to, () => this.#answers(this.#script.target ?? ANSWERS, timeoutMs, 101));
  }

  join({ dialogid, side }: DialogSide): Transfer {
    const follow = () => this.#answers(this.#script.target ?? AT_ONCE, DEFAULT_TIMEOUT_MS, 101);
    return this.#transfer('join', `${dialogid} ${side}`, follow);
  }

  #out(operation: string, target: string, follow: () => Pick<OutgoingCall, 'provisional' | 'final'>): OutgoingCall {
    this.#require(operation, 'none');
    this.#note(`${operation} ${target}`);
    this.#state = 'outgoing';
    this.#opponent = party(target);
    const answers = follow();
    void answers.final.then(({ status }) => {
      if (status < 300) this.#connected();
      else this.end('failure', line(status));
    });
    return { callid: this.callid, dialogid: 'dialog-1', ...answers };
  }

  #transfer(operation: string, target: string, follow: () => Pick<Transfer, 'provisional' | 'final'>): Transfer {
    this.#require(operation, 'connected');
    this.#note(`${operation} ${target}`);
    this.#state = 'transferred';
    const answers = follow();
    const { hangsUpInTransferAfter } = this.#script;
    if (hangsUpInTransferAfter !== undefined) void this.#hangUpAfter(hangsUpInTransferAfter);
    void answers.final.then(({ status }) => {
      if (this.#end.signal.aborted) return;
      if (status < 300) this.end('transfer', 'transferred');
      else this.#state = 'connected';
    });
    return { acallid: 'a@simulation', dialogid: 'dialog-2', ...answers };
  }

  /** Follows a script of answers until a final one, the time-out (408) or the end of the call (487). */
  #answers(
    script: readonly ScriptedAnswer[],
    timeoutMs: number,
    lowest: number,
  ): Pick<OutgoingCall, 'provisional' | 'final'> {
    const provisional = Promise.withResolvers<Answer>();
    const final = Promise.withResolvers<Answer>();
    const follow = async (): Promise<Answer> => {
      const start = this.#clock.now();
      for (const scripted of script) {
        if (scripted.after >= timeoutMs) break;
        await this.#clock.sleep(start + scripted.after - this.#clock.now(), this.#end.signal);
        const answer = toAnswer(scripted);
        if (answer.status >= 200) return answer;
        if (answer.status >= lowest) provisional.resolve(answer);
      }
      await this.#clock.sleep(start + timeoutMs - this.#clock.now(), this.#end.signal);
      return toAnswer({ after: timeoutMs, status: 408, local: true });
    };
    follow().then(
      (answer) => {
        provisional.resolve(answer);
        final.resolve(answer);
      },
      () => {
        const answer = toAnswer({ after: 0, status: 487, local: true });
        provisional.resolve(answer);
        final.resolve(answer);
      },
    );
    return { provisional: provisional.promise, final: final.promise };
  }

  #connected(): void {
    this.#state = 'connected';
    const { hangsUpAfter } = this.#script;
    if (hangsUpAfter !== undefined) void this.#hangUpAfter(hangsUpAfter);
  }

  async #hangUpAfter(milliseconds: number): Promise<void> {
    try {
      await this.#clock.sleep(milliseconds, this.#end.signal);
      this.end('opponent', 'hung up');
    } catch {
      // The call was over before: there is nothing left to hang up.
    }
  }

  /** Lets time pass; rejects with the reason of whichever ends it early. */
  async #pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(milliseconds, AbortSignal.any([signal, this.#end.signal]));
  }

  async #untilAborted(signal: AbortSignal): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    return promise;
  }

  #take(count: number): void {
    const rest = this.#presses[0]?.slice(count) ?? '';
    if (rest === '') this.#presses.shift();
    else this.#presses[0] = rest;
  }

  #require(operation: string, state: CallState): void {
    if (this.#state !== state) throw new CallStateError(operation, this.#state);
  }

  #note(what: string): void {
    const event: CallEvent = { at: this.#clock.now(), what };
    this.events.push(event);
    this.#script.onEvent?.(event);
  }
}

function untilTerminator(pressed: string, max: number, terminators: string): string {
  let end = 0;
  while (end < Math.min(max, pressed.length) && !terminators.includes(pressed.charAt(end))) end += 1;
  return pressed.slice(0, end);
}

function describe(source: PlaySource): string {
  if ('file' in source) return source.file.replace(/^.*\//, '');
  return 'tone' in source ? `tone:${source.tone}` : `silence:${source.silenceMs}ms`;
}

function party(number: string): PartyInfo {
  return { number, login: undefined, name: undefined, domain: 'simulation', uri: `<sip:${number}@simulation>` };
}

function toAnswer({ status, reason, local = false }: ScriptedAnswer): Answer {
  const phrase = reason ?? REASONS[status] ?? 'Answer';
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}

function line(status: number, reason?: string): string {
  return `${status} ${reason ?? REASONS[status] ?? ''}`.trim();
}
