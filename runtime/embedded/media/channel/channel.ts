/** A call leg on the media server. */
import { randomUUID } from 'node:crypto';
import type { BuildHeaders, EventHeaders } from '../esl/event.ts';
import type { EslConnection } from '../esl/connection.ts';
import type { RtpSession } from '../rtp/session.ts';
import { type ApplicationStart, type DigitSource, NO_RESPONSE, type RunningApplication } from './application.ts';
import { ChannelAudio } from './audio.ts';
import type { ChannelCore } from './core.ts';
import { endVariables } from './end-variables.ts';
import { addVariables, channelHeaders } from './headers.ts';
import type { KeyTones } from './key-tones.ts';
import type { EndedBy, EventParts, OtherLeg, QueuedExecution, Signalling } from './parts.ts';
import type { CallerProfile, ChannelTimes, LegState } from './profile.ts';
import { CALL_STATES, type CallStateName, CHANNEL_STATES, type ChannelStateName, mayFollow } from './state.ts';
import type { MediaTap } from './tap.ts';

/** Largest number of waiting commands of one channel. */
const MAX_QUEUED = 1000;

/** Largest number of applications on one stack. */
const MAX_NESTED = 64;

interface Frame extends QueuedExecution {
  readonly running: RunningApplication;
}

/** Pause after each sent digit as FreeSWITCH counts it; the real pause differs. */
const DIGIT_PAUSE_MS = 250;

/** One call leg: its state, variables, media, and its stack of applications. */
export class Channel {
  readonly uuid: string;
  readonly core: ChannelCore;
  readonly profile: CallerProfile;
  readonly rtp: RtpSession;
  readonly audio: ChannelAudio;
  readonly variables = new Map<string, string | readonly string[]>();
  readonly taps = new Set<MediaTap>();
  readonly times: ChannelTimes;
  readonly #signalling: Signalling;
  readonly #queue: QueuedExecution[] = [];
  readonly #stack: Frame[] = [];
  readonly #cleanups: (() => void)[] = [];
  #state: ChannelStateName = 'CS_NEW';
  #callState: CallStateName = 'DOWN';
  #hangupCause: string | undefined;
  #nextTick: (() => void)[] = [];
  #break: 'top' | 'all' | undefined;
  #dialplan: QueuedExecution[] | undefined;
  /** The outbound event socket connection that controls the channel. */
  control: EslConnection | undefined;
  /** Dialplan in events: XML, or inline after a transfer. */
  dialplan = 'XML';
  /** True while an application reads linear samples: events then show the codec L16. */
  readsLinear = false;
  /** Set while digits are sent as tones. */
  keyTones: KeyTones | undefined;
  /** The leg of the current or last bridge. */
  otherLeg: OtherLeg | undefined;
  /** The other leg of a bridge that begins at the next tick. */
  joining: Channel | undefined;
  #profileIndex = 1;
  #profileCreated: number;
  #transferSource = '';
  #parked = false;
  #uncontrolled = false;

  constructor(core: ChannelCore, profile: CallerProfile, rtp: RtpSession, signalling: Signalling, uuid = randomUUID()) {
    this.core = core;
    this.uuid = uuid;
    this.profile = profile;
    this.rtp = rtp;
    this.audio = new ChannelAudio(rtp, core.ticker);
    this.#signalling = signalling;
    this.times = { created: Date.now() * 1000, answered: 0, progressMedia: 0, hangup: 0, transfer: 0, bridged: 0 };
    this.#profileCreated = this.times.created;
    rtp.onDigit = (digit, duration) => this.receiveDigit(digit, duration, 'RTP');
  }

  get ended(): boolean {
    return this.#hangupCause !== undefined;
  }

  get hangupCause(): string | undefined {
    return this.#hangupCause;
  }

  get callState(): CallStateName {
    return this.#callState;
  }

  get state(): ChannelStateName {
    return this.#state;
  }

  /** Whether the channel is in a bridge. The first leg is in CS_SOFT_EXECUTE, the second in CS_EXCHANGE_MEDIA. */
  get bridged(): boolean {
    return this.#state === 'CS_SOFT_EXECUTE' || this.#state === 'CS_EXCHANGE_MEDIA';
  }

  get stateNumber(): number {
    return CHANNEL_STATES[this.#state];
  }

  /** The leg as its events show it. */
  get leg(): LegState {
    return {
      uuid: this.uuid,
      dialplan: this.dialplan,
      transferSource: this.#transferSource,
      profileIndex: this.#profileIndex,
      profileCreated: this.#profileCreated,
      calleeIdName: this.#profileIndex > 1 ? 'unknown' : '',
      times: this.times,
    };
  }

  /** The application on top, for `show channels`. */
  get currentApplication(): { readonly application: string; readonly data: string } | undefined {
    return this.#stack.at(-1);
  }

  /** Applications on the stack and commands waiting. */
  get depth(): { readonly running: number; readonly queued: number } {
    return { running: this.#stack.length, queued: this.#queue.length };
  }

  get(name: string): string | undefined {
    const value = this.variables.get(name);
    return typeof value === 'string' ? value : value?.[0];
  }

  /** Sets a variable; an empty value removes it. */
  set(name: string, value: string): void {
    // Deleted first, so that the latest change comes last in events, as in FreeSWITCH.
    this.variables.delete(name);
    if (value !== '') this.variables.set(name, value);
  }

  /** Calls `run` when the channel ends. Returns a function that cancels this. */
  onEnd(run: () => void): () => void {
    this.#cleanups.push(run);
    return () => {
      const index = this.#cleanups.indexOf(run);
      if (index >= 0) this.#cleanups.splice(index, 1);
    };
  }

  setState(state: ChannelStateName): void {
    this.#state = state;
    if (this.#uncontrolled && !this.bridged && !this.ended) this.atNextTick(() => this.endIfAlone());
  }

  /** Its client is gone: the channel ends, one in a bridge with the bridge. */
  uncontrolled(): void {
    this.#uncontrolled = true;
    this.endIfAlone();
  }

  /** Hangs up a channel whose client is gone, and that is in no bridge and enters none. */
  endIfAlone(): void {
    const joins = this.joining?.ended === false;
    if (this.#uncontrolled && !joins && !this.bridged && !this.ended) this.hangup('NORMAL_CLEARING', 'api');
  }

  /** Changes the call state, and publishes CHANNEL_CALLSTATE. */
  setCallState(state: CallStateName): void {
    const original = this.#callState;
    if (!mayFollow(original, state)) return;
    this.#callState = state;
    this.publish('CHANNEL_CALLSTATE', {
      first: { 'Original-Channel-Call-State': original, 'Channel-Call-State-Number': String(CALL_STATES[state]) },
      variables: false,
    });
  }

  /** Publishes an event of this channel. */
  publish(name: string, parts: EventParts = {}): void {
    this.core.bus.publishOf(this.uuid, name, (names) => {
      // One object is filled: spreading a hundred headers into another costs more than building them.
      const headers: EventHeaders = Object.assign(
        this.core.identity.eventHeaders(name),
        parts.first,
        channelHeaders(this),
      );
      if (parts.variables !== false) addVariables(this, headers, names);
      return Object.assign(headers, parts.more?.(names), parts.last);
    });
  }

  /**
   * Begins a new caller profile, for a transfer or a bridge.
   *
   * @param kind `bl_xfer` for a transfer, `uuid_br` for a bridge
   * @param target destination of the transfer, or id of the other leg
   */
  renewProfile(kind: 'bl_xfer' | 'uuid_br', target: string): void {
    const now = Date.now();
    const source = `${Math.floor(now / 1000)}:${randomUUID()}:${kind}:${target}`;
    this.#profileIndex += 1;
    this.#profileCreated = now * 1000;
    this.#transferSource = source;
    this.set('original_destination_number', this.profile.destinationNumber);
    this.set('original_caller_id_name', this.profile.callerIdName);
    const history = this.variables.get('transfer_history');
    const earlier = history === undefined ? [] : typeof history === 'string' ? [history] : history;
    this.variables.set('transfer_history', earlier.length === 0 ? source : [...earlier, source]);
    this.set('transfer_source', source);
  }

  /** Starts or ends waiting for commands, with the events CHANNEL_PARK and CHANNEL_UNPARK. */
  setParked(parked: boolean): void {
    if (this.#parked === parked) return;
    this.#parked = parked;
    this.publish(parked ? 'CHANNEL_PARK' : 'CHANNEL_UNPARK');
  }

  /** Queues an application. It starts in the next frame in which the top one lets commands in. False when full. */
  enqueue(application: string, data: string, uuid: string = randomUUID()): boolean {
    if (this.ended || this.#queue.length >= MAX_QUEUED) return false;
    this.#queue.push({ application, data, uuid });
    return true;
  }

  /** Queues applications ahead of the waiting ones. */
  enqueueAhead(executions: readonly QueuedExecution[]): void {
    if (!this.ended) this.#queue.unshift(...executions);
  }

  /** Runs a dialplan extension: its applications in order from the next tick on, then a hangup. */
  route(extension: readonly QueuedExecution[]): void {
    this.#dialplan = [...extension];
  }

  /** Calls `run` at the next tick, before the applications: for API commands that change the stack. */
  atNextTick(run: () => void): void {
    this.#nextTick.push(run);
  }

  /** `uuid_break`: ends the top application, or all that can be broken, at the next tick. */
  requestBreak(all: boolean): void {
    this.#break = all ? 'all' : 'top';
    if (all) this.#queue.length = 0;
  }

  /**
   * `uuid_fileman pause`: pauses or resumes the current file.
   * @returns false when no file is playing
   */
  pauseFile(): boolean {
    return this.#stack.at(-1)?.running.pause?.() ?? false;
  }

  /** Takes a digit of the far end: publishes the event, then passes it to the top application. */
  receiveDigit(digit: string, duration: number, source: DigitSource): void {
    if (this.ended) return;
    const last = { 'DTMF-Digit': digit, 'DTMF-Duration': String(duration), 'DTMF-Source': source };
    this.publish('DTMF', { last, variables: false });
    this.#stack.at(-1)?.running.digit?.(digit, source, duration);
  }

  /**
   * Sends digits to the far end as telephone-events (RFC 4733), or by INFO when these were not negotiated.
   * @param tones whether `start_dtmf_generate` makes them tones
   */
  sendDigits(digits: string, milliseconds: number, { tones = true } = {}): void {
    const count = digits.replace(/w/gi, '').length;
    this.set('last_dtmf_duration', String(count * (milliseconds + DIGIT_PAUSE_MS)));
    if (tones && this.keyTones !== undefined) return this.#sendTones(this.keyTones, digits, milliseconds);
    if (this.rtp.sendDigits(digits, milliseconds)) return;
    for (const digit of digits) this.#signalling.sendInfoDigit(digit, milliseconds);
  }

  /** As in FreeSWITCH, digits that become tones are reported, though they were not received. */
  #sendTones(tones: KeyTones, digits: string, milliseconds: number): void {
    tones.send(digits, milliseconds);
    for (const digit of digits) {
      const sent = { 'DTMF-Digit': digit, 'DTMF-Duration': String(milliseconds * 8), 'DTMF-Source': 'APP' };
      this.publish('DTMF', { last: { ...sent, 'DTMF-Conversion': 'native:inband' }, variables: false });
    }
  }

  /** Handles one frame slot: break, top application, taps, then commands. */
  tick(): void {
    if (this.#nextTick.length > 0) {
      const due = this.#nextTick;
      this.#nextTick = [];
      for (const run of due) run();
    }
    if (this.ended) return;
    if (this.#break !== undefined) this.#applyBreak();
    if (this.#stack.length === 0 && this.#dialplan !== undefined) this.#followDialplan();
    if (this.ended) return;
    const top = this.#stack.at(-1);
    if (top === undefined) this.audio.writeSilence();
    else if (top.running.tick()) this.#finish(top);
    for (const tap of this.taps) tap.tick();
    this.#startQueued();
  }

  /** Puts a running application on the stack with its CHANNEL_EXECUTE event, without a command. */
  run(application: string, data: string, running: RunningApplication, uuid: string = randomUUID()): void {
    this.#stack.at(-1)?.running.suspend?.();
    // A bridge is not an application of the dialplan: the variables keep the last one.
    this.#announce({ application, data, uuid }, application !== 'uuid_bridge');
    this.#stack.push({ application, data, uuid, running });
  }

  /** Ends all applications on the stack, from the top. */
  unwind(): void {
    this.#dialplan = undefined;
    for (let frame = this.#stack.pop(); frame !== undefined; frame = this.#stack.pop()) {
      frame.running.end?.();
      if (frame.running.endsSilently !== true) this.#complete(frame, frame.running.response);
    }
  }

  /** Ends the call. Further calls have no effect. */
  hangup(cause: string, by: EndedBy): void {
    if (this.ended) return;
    this.#hangupCause = cause;
    this.#queue.length = 0;
    this.times.hangup = Date.now() * 1000;
    const control = this.control;
    // FreeSWITCH closes the controlling connection at once when the end comes from outside the channel's thread.
    if (by === 'api') control?.disconnect(this.uuid);
    if (by !== 'far-end') this.#signalling.end(cause);
    this.publish('CHANNEL_HANGUP');
    const { bridged } = this;
    this.unwind();
    if (by === 'application' && bridged) control?.disconnect(this.uuid);
    for (const tap of this.taps) tap.end();
    this.taps.clear();
    for (const run of this.#cleanups.splice(0)) run();
    this.#state = 'CS_HANGUP';
    this.set('hangup_cause', cause);
    this.setCallState('HANGUP');
    control?.disconnect(this.uuid);
    this.control = undefined;
    this.#state = 'CS_REPORTING';
    const more: BuildHeaders = (names) => endVariables(this, names);
    this.publish('CHANNEL_HANGUP_COMPLETE', { more });
    this.publish('CHANNEL_DESTROY', { more });
    this.rtp.close();
    this.core.leave(this);
  }

  #applyBreak(): void {
    const frame = this.#stack.at(-1);
    if (this.#break === 'top') this.#break = undefined;
    // With `all` the flag stays until the top application cannot be broken.
    if (frame?.running.break === undefined) this.#break = undefined;
    else frame.running.break();
  }

  #finish(frame: Frame): void {
    const index = this.#stack.lastIndexOf(frame);
    if (index < 0) return; // its tick ended the channel
    this.#stack.splice(index, 1);
    frame.running.end?.();
    if (frame.running.endsSilently !== true) this.#complete(frame, frame.running.response);
    this.#stack.at(-1)?.running.resume?.();
  }

  #startQueued(): void {
    while (this.#queue.length > 0 && !this.ended) {
      if (this.#stack.at(-1)?.running.ignoresCommands === true) return;
      const next = this.#queue.shift() as QueuedExecution;
      const start = this.core.applications.get(next.application);
      if (start === undefined || this.#stack.length >= MAX_NESTED) {
        this.hangup('DESTINATION_OUT_OF_ORDER', 'application');
        return;
      }
      if (!this.#start(next, start)) return;
    }
  }

  #followDialplan(): void {
    while (this.#stack.length === 0 && !this.ended) {
      const next = this.#dialplan?.shift();
      const start = next === undefined ? undefined : this.core.applications.get(next.application);
      if (next === undefined) this.hangup('NORMAL_CLEARING', 'application');
      else if (start === undefined) this.hangup('DESTINATION_OUT_OF_ORDER', 'application');
      else this.#start(next, start);
    }
  }

  /** @returns true when the application was done at once and the next command can be read */
  #start(next: QueuedExecution, start: ApplicationStart): boolean {
    this.#announce(next);
    if (next.application === 'hangup') {
      this.#hangupByApplication(next);
      return false;
    }
    const below = this.#stack.at(-1);
    const result = start(this, next.data);
    if (typeof result === 'string') {
      if (!this.ended) this.#complete(next, result);
      return true;
    }
    below?.running.suspend?.();
    this.#stack.push({ ...next, running: result });
    return false;
  }

  #hangupByApplication(next: QueuedExecution): void {
    const start = this.core.applications.get('hangup') as ApplicationStart;
    // The call ends first, then the completion of `hangup` is published.
    const cause = start(this, next.data) as string;
    this.#stack.push({ ...next, running: { response: NO_RESPONSE, tick: () => true } });
    this.hangup(cause, 'application');
  }

  #announce(execution: QueuedExecution, named = true): void {
    if (named) {
      this.variables.delete('current_application_response');
      this.set('current_application', execution.application);
      this.set('current_application_data', execution.data);
    }
    this.publish('CHANNEL_EXECUTE', { last: executionHeaders(execution) });
  }

  #complete(execution: QueuedExecution, response: string): void {
    if (response !== NO_RESPONSE) this.set('current_application_response', response);
    // The variable stays after the application that set it, so an application below it reports it again.
    const last = executionHeaders(execution, this.get('current_application_response') ?? NO_RESPONSE);
    this.publish('CHANNEL_EXECUTE_COMPLETE', { last });
  }
}

function executionHeaders(execution: QueuedExecution, response?: string): EventHeaders {
  return {
    Application: execution.application,
    ...(execution.data === '' ? {} : { 'Application-Data': execution.data }),
    ...(response === undefined ? {} : { 'Application-Response': response }),
    'Application-UUID': execution.uuid,
  };
}
