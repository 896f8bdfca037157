/** A run: registers the phones, starts the calls at their rate, and waits for their end. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type ServerTransaction, SipParseError } from '../embedded/stack/index.ts';
import { CalledPhones } from './calls/called-phones.ts';
import { OriginatedCalls } from './calls/originated.ts';
import { callOut } from './calls/outgoing.ts';
import type { CallRecord } from './calls/record.ts';
import type { CallTools } from './calls/tools.ts';
import { LoadError } from './errors.ts';
import { LAST_CALL_MS } from './limits.ts';
import { PacketClock } from './media/packet-clock.ts';
import type { Received } from './media/reception.ts';
import { SoundSockets } from './media/sockets.ts';
import { type Account, type LoadPlan, rampMs, startOf } from './plan.ts';
import { SipAgent } from './sip/agent.ts';
import { type Registered, Registrations } from './sip/registration.ts';

/** Milliseconds in which the BYEs to called phones come after the end of the callers' calls. */
const LAST_BYES_MS = 3000;

/** Where a run stands. */
export interface Progress {
  readonly tried: number;
  readonly ended: number;
  readonly live: number;
  readonly failed: number;
  /** Share of the run that is done, 0 to 1. */
  readonly share: number;
}

/** What a run measured. */
export interface Outcome {
  readonly plan: LoadPlan;
  readonly began: Date;
  /** Milliseconds from the first call to the end of the last. */
  readonly ms: number;
  readonly records: readonly CallRecord[];
  /** Refused registrations; then no call was made. */
  readonly unregistered: readonly Registered[];
  /** Calls that had to wait because too many were live. */
  readonly heldBack: number;
  readonly isStopped: boolean;
  readonly called: { readonly answered: number; readonly heard: number };
  readonly received: { readonly caller: Received; readonly called: Received };
  /** Sent packets, and how late this program was. */
  readonly sent: PacketClock['sent'];
}

/** One run of a load. */
export class LoadRun {
  readonly #plan: LoadPlan;
  readonly #ready: () => Promise<void>;
  readonly #stop = new AbortController();
  readonly #records: CallRecord[] = [];
  readonly #live = new Set<Promise<void>>();
  #began = 0;
  #failed = 0;
  #heldBack = 0;
  #error: LoadError | undefined;
  #wake: () => void = () => undefined;

  /** @param ready awaited between the registrations and the first call: a node of a cluster may learn of them later */
  constructor(plan: LoadPlan, ready: () => Promise<void> = () => Promise.resolve()) {
    this.#plan = plan;
    this.#ready = ready;
    setMaxListeners(0, this.#stop.signal);
  }

  get progress(): Progress {
    const { calls, startMs, talkMs } = this.#plan;
    const tried = this.#records.length;
    const elapsed = this.#began === 0 ? 0 : performance.now() - this.#began;
    const expected = Math.min(startMs, startOf(calls - 1, this.#plan), rampMs(this.#plan)) + talkMs;
    const live = this.#live.size;
    const ended = tried - live;
    const share = Math.min(1, Math.max(ended / calls, elapsed / expected));
    return { tried, ended, live, failed: this.#failed, share };
  }

  /** Starts no more calls, and ends the live ones. */
  stop(): void {
    this.#stop.abort();
    this.#wake();
  }

  /**
   * Runs until every call is over.
   * @throws LoadError when this machine cannot open the sockets
   */
  async run(): Promise<Outcome> {
    const plan = this.#plan;
    const agent = await SipAgent.open(plan.sip, plan.localHost, plan.domain);
    const sockets = new SoundSockets(plan.localHost);
    const clock = new PacketClock();
    const received = { caller: nothing(), called: nothing() };
    const tools: CallTools = { plan, agent, sockets, clock, received, stop: this.#stop.signal };
    const called = new CalledPhones(tools);
    const phones = plan.callee.kind === 'phones' ? plan.callee.accounts : [];
    const registrations = new Registrations(agent, [...(plan.unregistered ? [] : plan.callers), ...phones]);
    try {
      // A server that does not answer must not keep a stop waiting.
      const unregistered = await Promise.race([registrations.open(), this.#stopped([])]);
      if (unregistered.length === 0) await this.#ready();
      const began = new Date();
      this.#began = performance.now();
      if (unregistered.length === 0) await this.#make(tools, called);
      const ms = performance.now() - this.#began;
      await called.end(this.#stop.signal.aborted ? 1000 : LAST_BYES_MS);
      const isStopped = this.#stop.signal.aborted;
      const { counts } = called;
      const records = this.#records;
      const heldBack = this.#heldBack;
      return {
        plan,
        began,
        ms,
        records,
        unregistered,
        heldBack,
        isStopped,
        called: counts,
        received,
        sent: clock.sent,
      };
    } finally {
      await registrations.close();
      await agent.close();
      clock.close();
      sockets.close();
    }
  }

  async #make(tools: CallTools, called: CalledPhones): Promise<void> {
    const { plan, agent } = tools;
    const originated = plan.originate && new OriginatedCalls(tools, plan.originate);
    const answering = new Set(plan.callee.kind === 'phones' ? plan.callee.accounts.map(({ login }) => login) : []);
    agent.onInvite = (login: string, transaction: ServerTransaction) => {
      if (answering.has(login)) called.take(login, transaction);
      else if (originated !== undefined) originated.take(login, transaction);
      else transaction.reply(486);
    };
    for (let index = 0; index < plan.calls; index += 1) {
      const due = startOf(index, plan);
      if (due > plan.startMs) break;
      await this.#until(this.#began + due);
      if (this.#live.size >= plan.live) this.#heldBack += 1;
      while (this.#live.size >= plan.live && !this.#stop.signal.aborted) await this.#place();
      if (this.#stop.signal.aborted || performance.now() - this.#began > plan.startMs) break;
      const caller = plan.callers[index % plan.callers.length] as Account;
      const number = numberOf(plan, index);
      this.#start((record) =>
        originated === undefined
          ? callOut(tools, record, index, caller, number)
          : originated.start(record, index, caller, number),
      );
    }
    await this.#allOver(plan.ringMs + plan.talkMs + LAST_CALL_MS);
    if (this.#error !== undefined) throw this.#error;
  }

  #start(call: (record: CallRecord) => Promise<void>): void {
    const began = performance.now();
    const { soundEvery } = this.#plan;
    const isChecked = soundEvery > 0 && this.#records.length % soundEvery === 0;
    const record: CallRecord = { startMs: began - this.#began, isChecked };
    this.#records.push(record);
    const running = call(record)
      .catch((error: unknown) => {
        if (error instanceof SipParseError) record.failure = { kind: 'bad message', detail: error.message };
        else this.#abandon(error);
      })
      .finally(() => {
        record.ended = performance.now() - began;
        if (record.failure !== undefined) this.#failed += 1;
        this.#live.delete(running);
        this.#wake();
      });
    this.#live.add(running);
  }

  /** Without sockets for sound, e.g., no further call can be made either. */
  #abandon(error: unknown): void {
    this.#error ??= new LoadError(`a call cannot be made: ${(error as Error).message}`, { cause: error });
    this.stop();
  }

  /** Waits for the end of every call. Each is bounded; should one not be, the run ends without it. */
  async #allOver(withinMs: number): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    await Promise.race([Promise.all(this.#live), isLate]);
    clearTimeout(timer);
    for (const record of this.#records) {
      if (record.ended === undefined) record.failure ??= { kind: 'timeout', detail: 'the call does not end' };
    }
  }

  /** Settles at the stop. */
  #stopped<T>(value: T): Promise<T> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      if (signal.aborted) resolve(value);
      signal.addEventListener('abort', () => resolve(value), { once: true });
    });
  }

  /** Waits for the end of a call, or the stop. */
  #place(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Waits for a time of the monotonic clock, or the stop. */
  async #until(due: number): Promise<void> {
    const ms = due - performance.now();
    // A timer takes at least a millisecond; calls that are due together start together.
    if (ms >= 1) await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

function numberOf({ callee }: LoadPlan, index: number): string {
  if (callee.kind === 'number') return callee.number;
  return callee.dial ?? (callee.accounts[index % callee.accounts.length] as Account).login;
}

function nothing(): Received {
  return { packets: 0, lost: 0, late: 0, jitterMs: 0 };
}
