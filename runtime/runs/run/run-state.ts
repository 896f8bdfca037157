import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SandboxError, ScriptError } from '../../sandbox/index.ts';
import { type CallPort, CallStateError, isInterruption } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Report } from './report.ts';
import { effectiveLimits, type Program, ScenarioError, type ScenarioLimits, type Value } from '../../language/index.ts';
import type { Log } from '../log.ts';
import type { Secrets } from '../ports/policy.ts';
import type { RunServices } from '../ports/services.ts';
import { Children } from './children.ts';
import type { RunPlace } from './family.ts';
import { Legs } from './legs.ts';
import { Mailbox } from './mailbox.ts';
import type { RunLimits, RunOptions } from './run.ts';
import type { RunError, RunOutcome } from './outcome.ts';
import { ReportedFields } from './reported-fields.ts';
import { TimeLimit } from './time-limit.ts';
import { Trace } from './trace.ts';

const DEFAULT_LIMITS: RunLimits = {
  stepsWithoutWait: 1000,
  traceEntries: 500,
  finallyMs: 60_000,
  graceMs: 5000,
};

/** What a run of any kind has and learns, and how it ends. */
export class RunState {
  readonly id: string;
  readonly program: Program;
  readonly call: CallPort | undefined;
  readonly domain: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits: RunLimits;
  readonly services: RunServices;
  readonly trace: Trace;
  readonly children: Children;
  readonly mailbox = new Mailbox();
  readonly legs: Legs;
  /** What blocks in progress say of an end of the call: see `ComponentContext.claimEnd`. */
  readonly #claims = new Set<(end: CallEnd) => boolean>();
  /** What the run may use. */
  readonly allowed: ScenarioLimits;
  readonly secrets: Secrets;
  #debug: boolean;
  /** Of the run from start to end. */
  #timeLimit: TimeLimit | undefined;
  readonly #report: RunOptions['report'];
  readonly #borrowsCall: boolean;
  /** When it began, milliseconds since the epoch. */
  readonly start: number;
  #logLines = 0;
  #recordings = 0;
  readonly #reported = new ReportedFields();
  #value: Value | undefined;
  #error: RunError | undefined;
  #interruption: { readonly status: 'ended' | 'stopped'; readonly reason: string } | undefined;
  #heardOfEnd = false;
  #releasing: Promise<void> | undefined;
  readonly #hearOfEnd = (): void => void (this.#heardOfEnd = true);

  constructor(program: Program, options: RunOptions, { family, depth, borrowedCall }: RunPlace) {
    const { call, log, clock = systemClock, services, report } = options;
    this.#borrowsCall = borrowedCall;
    this.#report = report;
    this.program = program;
    this.id = options.id ?? randomUUID();
    this.call = call;
    this.domain = options.domain ?? call?.domain ?? '';
    this.log = log;
    this.clock = clock;
    const { policy } = services;
    this.allowed = effectiveLimits(program.limits, policy.limits(this.domain));
    this.#debug = policy.debugs(program, this.domain, call);
    this.secrets = policy.secrets(this.domain, program);
    this.limits = { ...DEFAULT_LIMITS, stepsWithoutWait: this.allowed.steps, ...options.limits };
    this.services = services;
    this.trace = new Trace(this.limits.traceEntries);
    this.children = new Children({ family, services, call, domain: this.domain, depth, log, clock, report });
    this.legs = new Legs(() => services.openCall(this.domain));
    this.start = clock.now();
    if (call?.endSignal.aborted === false) call.endSignal.addEventListener('abort', this.#hearOfEnd, { once: true });
  }

  /** Its scripts wait for a debugger, and have no limits of time while it is there. */
  get debug(): boolean {
    return this.#debug;
  }

  /** The debugger went away before a script was over, or none came: the run is one as any other from now on. */
  undebugged(): void {
    this.#debug = false;
  }

  /** The run begins to take time. @param onOver called when it has taken more than it may */
  limitTime(onOver: (milliseconds: number) => void): void {
    const { wall } = this.allowed;
    if (wall !== undefined) this.#timeLimit = new TimeLimit(this.clock, wall, () => onOver(wall));
  }

  /** The run takes no time meanwhile: a script of it is debugged. @returns to be called when that is over */
  holdTime(): () => void {
    return this.#timeLimit?.hold() ?? (() => undefined);
  }

  /** The run is over. */
  unlimitTime(): void {
    this.#timeLimit?.cancel();
  }

  /** What a script is called in stacks, and where a debugger finds its breakpoints: a file by its URL. */
  get scriptUrl(): string {
    const { file } = this.program;
    return this.debug && path.isAbsolute(file) ? pathToFileURL(file).href : file;
  }

  /** By what the sandbox tells its scripts from those of others: scripts of two domains may have one name and one number. */
  get scriptVersion(): string {
    const { entity = '', version } = this.program;
    return `${entity} ${version}`;
  }

  /** A line for the log of the node; false when there were too many. */
  countLogLine(): boolean {
    this.#logLines += 1;
    if (this.#logLines === this.allowed.log + 1)
      this.log.warn({ run: this.id, scenario: this.program.id }, 'the scenario logs too much: the rest is left out');
    return this.#logLines <= this.allowed.log;
  }

  /** A file name for what the run records next. */
  nameRecording(): string {
    this.#recordings += 1;
    return `${this.id}-${this.#recordings}.wav`;
  }

  /** Passes a milestone on. A sink that throws harms neither the scenario nor the answers that come after it. */
  report(report: Omit<Report, 'at'>): void {
    if (report.fields) this.#reported.set(report.fields);
    try {
      this.#report?.({ at: this.clock.now(), ...report });
    } catch (error) {
      this.log.error({ run: this.id, milestone: report.milestone, err: error }, 'report could not be passed on');
    }
  }

  returned(value: Value): void {
    this.#value = value;
  }

  /** The first error is the one that counts. */
  fail(error: RunError, cause: unknown): void {
    this.#error ??= error;
    this.log.warn(
      { run: this.id, scenario: this.program.id, block: error.block, code: error.code, err: cause },
      'scenario failed',
    );
  }

  get hasFailed(): boolean {
    return this.#error !== undefined;
  }

  /** The first reason is the one that counts. */
  interrupted(status: 'ended' | 'stopped', reason: string): void {
    this.#interruption ??= { status, reason };
  }

  /** Calls back when the other party or the system ends the call; at once when that was before. */
  onCallEnd(ended: (end: CallEnd) => void): () => void {
    const signal = this.call?.endSignal;
    if (!signal) return () => undefined;
    // What the scenario did itself (hang up, transfer) or learns by an exit (a call that failed) is no interruption.
    const listener = (): void => {
      this.#hearOfEnd();
      const end = signal.reason as CallEnd;
      if (![...this.#claims].some((claim) => claim(end)) && isInterruption(end)) ended(end);
    };
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  }

  /**
   * Whether the call is over, and this run hears of it next: the run that it serves as a function is told first, and
   * would end it. It ends by itself, as any whose call is over.
   */
  get endIsNews(): boolean {
    return this.call?.endSignal.aborted === true && !this.#heardOfEnd;
  }

  /** Ends of the call that the claim accepts cut nothing short until the returned function is called. */
  claimEnd(claim: (end: CallEnd) => boolean): () => void {
    this.#claims.add(claim);
    return () => this.#claims.delete(claim);
  }

  /**
   * Ends what the run started: a run leaves no call behind that nobody serves any more. After a failure the fallback scenario
   * has the call first. A second time it ends what has been started since.
   */
  async release(): Promise<void> {
    this.call?.endSignal.removeEventListener('abort', this.#hearOfEnd);
    this.#hearOfEnd();
    this.#releasing ??= this.#release();
    await this.#releasing;
    this.children.stop();
    await this.legs.release();
  }

  async #release(): Promise<void> {
    this.children.stop();
    await this.legs.release();
    await this.#fallBack();
    const { call } = this;
    if (!call || this.#borrowsCall || call.endSignal.aborted) return;
    try {
      if (call.state === 'incoming') await call.reject(480);
      else if (call.state === 'outgoing' || call.state === 'connected') await call.hangup();
    } catch (error) {
      // The other party may have ended the call at the same moment.
      if (!(error instanceof CallStateError))
        this.log.error({ run: this.id, scenario: this.program.id, err: error }, 'call could not be released');
    }
  }

  /** After a failure the fallback scenario gets the call, if there still is one. */
  async #fallBack(): Promise<void> {
    const { fallback } = this.program;
    if (fallback === undefined || !this.#error || !this.call || this.call.endSignal.aborted) return;
    try {
      const run = await this.children.start({ scenario: fallback, args: {}, parallel: false, keep: false });
      this.log.warn({ run: this.id, scenario: this.program.id, fallback, child: run.id }, 'fallback scenario started');
      await run.settled;
    } catch (error) {
      this.log.error({ run: this.id, fallback, err: error }, 'fallback scenario could not be started');
    }
  }

  /**
   * What failed because the call was over, in these words: whatever it is that the media no longer had.
   * @param leg the call it was for; undefined: the run's own
   */
  ofAuthor(error: unknown, leg: string | undefined): unknown {
    const known = [ScenarioError, SandboxError, CallStateError].some((each) => error instanceof each);
    const { endSignal } = (leg === undefined ? this.call : this.legs.find(leg)) ?? {};
    return known || endSignal?.aborted !== true ? error : callEnded(endSignal.reason as CallEnd, leg);
  }

  outcome(): RunOutcome {
    const status = this.#error ? 'failed' : (this.#interruption?.status ?? 'completed');
    return {
      status,
      ...(this.#error ? { error: this.#error } : {}),
      ...(this.#interruption ? { reason: this.#interruption.reason } : {}),
      result: this.#reported.values,
      ...(this.#value === undefined ? {} : { value: this.#value }),
      steps: this.trace.steps,
      start: this.start,
      milliseconds: this.clock.now() - this.start,
    };
  }
}

const ENDED_BY: Partial<Record<CallEnd['by'], string>> = {
  opponent: 'the other party',
  scenario: 'the scenario itself',
  transfer: 'a transfer',
  taken: 'somebody who took it over',
};

/** Code and message of whatever was thrown. */
export function describeError(error: unknown): Omit<RunError, 'block'> {
  if (error instanceof ScenarioError && error.details)
    return { code: error.code, message: error.message, details: error.details };
  if (error instanceof ScriptError && error.places.length > 0)
    return { code: error.code, message: error.message, stack: error.places };
  if (error instanceof ScenarioError || error instanceof SandboxError)
    return { code: error.code, message: error.message };
  if (error instanceof CallStateError) return { code: 'call_state', message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** Why blocks end when the other party has hung up, or the call was ended from outside. */
export function callEnded({ by }: CallEnd, leg?: string): ScenarioError {
  const which = leg === undefined ? 'the call' : `the call "${leg}"`;
  return new ScenarioError('call_ended', `${which} was ended by ${ENDED_BY[by] ?? 'the system'}`);
}
