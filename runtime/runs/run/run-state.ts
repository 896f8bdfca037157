/** The state that runs of both kinds share: call, legs, children, trace, limits and outcome. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type DomainName, NO_DOMAIN } from '../../domain-name/index.ts';
import { SandboxError, type ScriptModule } from '../../sandbox/index.ts';
import { type CallPort, CallStateError, isInterruption } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Report } from './report.ts';
import {
  effectiveLimits,
  languageTag,
  type Program,
  ScenarioError,
  type ScenarioLimits,
  type Value,
} from '../../language/index.ts';
import { type Log, ofLeg } from '../log.ts';
import type { Secrets } from '../ports/policy.ts';
import type { RunServices } from '../ports/services.ts';
import { Children } from './children.ts';
import type { RunPlace } from './family.ts';
import { Legs } from './legs.ts';
import { Mailbox } from './mailbox.ts';
import type { RunLimits, RunOptions } from './run.ts';
import type { SavedState } from './saved-run.ts';
import type { RunError, RunOutcome } from './outcome.ts';
import { RunNews } from './run-news.ts';
import { ReportedFields } from './reported-fields.ts';
import { MaskedLog } from './masked-log.ts';
import type { Sensitive } from './sensitive.ts';
import { TimeLimit } from './time-limit.ts';
import { callEnded } from './run-errors.ts';
import { Trace } from './trace.ts';

const DEFAULT_LIMITS: RunLimits = {
  stepsWithoutWait: 1000,
  traceEntries: 500,
  finallyMs: 60_000,
  graceMs: 5000,
};

/** State and end of a run of either kind. */
export class RunState {
  readonly id: string;
  readonly program: Program;
  readonly call: CallPort | undefined;
  readonly domain: DomainName;
  readonly log: Log;
  readonly clock: Clock;
  readonly limits: RunLimits;
  readonly services: RunServices;
  #language: string;
  readonly trace: Trace;
  /** For those who follow the run. */
  readonly news: RunNews;
  readonly sensitive: Sensitive;
  readonly children: Children;
  readonly mailbox = new Mailbox();
  readonly legs: Legs;
  /** True while keys and times do not interrupt: see `ComponentContext.undisturbed`. */
  undisturbed = false;
  /** Claims of blocks in progress on the end of the call: see `ComponentContext.claimEnd`. */
  readonly #claims = new Set<(end: CallEnd) => boolean>();
  /** Resource limits of the run. */
  readonly allowed: ScenarioLimits;
  readonly secrets: Secrets;
  #debug: boolean;
  /** Time limit of the whole run. */
  #timeLimit: TimeLimit | undefined;
  readonly #report: RunOptions['report'];
  readonly #borrowsCall: boolean;
  /** Start time, milliseconds since the epoch. */
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
    this.domain = options.domain ?? call?.domain ?? NO_DOMAIN;
    this.sensitive = family.sensitive;
    this.log = new MaskedLog(call === undefined ? log : ofLeg(log, call.callid), this.sensitive);
    this.clock = clock;
    const { policy } = services;
    this.allowed = effectiveLimits(program.limits, policy.limits(this.domain));
    this.#debug = policy.debugs(program, this.domain, call);
    this.secrets = policy.secrets(this.domain, program);
    this.limits = { ...DEFAULT_LIMITS, stepsWithoutWait: this.allowed.steps, ...options.limits };
    this.services = services;
    this.#language = languageTag(options.language ?? program.language ?? services.prompts.language(this.domain));
    const told = { record: family.join(this.id), id: this.id, domain: this.domain, program };
    this.news = new RunNews(told, services.followers);
    this.trace = new Trace(this.limits.traceEntries, this.sensitive, (entry) => this.news.entered(entry));
    this.children = new Children({
      family,
      services,
      call,
      domain: this.domain,
      language: () => this.language,
      depth,
      log,
      clock,
      report,
    });
    const serving = { id: this.id, scenario: program.id };
    if (!borrowedCall) call?.servedBy?.(serving);
    this.legs = new Legs(() => {
      const leg = services.openCall(this.domain, call !== undefined && call.state !== 'none');
      leg.servedBy?.(serving);
      return leg;
    });
    this.start = options.resume?.start ?? clock.now();
    if (options.resume !== undefined) this.#restore(options.resume.state);
    if (call?.endSignal.aborted === false) call.endSignal.addEventListener('abort', this.#hearOfEnd, { once: true });
  }

  /** Language tag: of what starts the run, else of its scenario, else of its domain. The run may change it. */
  get language(): string {
    return this.#language;
  }

  set language(language: string) {
    this.#language = languageTag(language);
  }

  /** Its scripts wait for a debugger; an attached debugger suspends their time limits. */
  get debug(): boolean {
    return this.#debug;
  }

  /** Ends debugging: the debugger detached before a script's end, or none attached. The usual limits apply from now on. */
  undebugged(): void {
    this.#debug = false;
  }

  /** Starts the time limit of the run. @param onOver called when the limit is exceeded */
  limitTime(onOver: (milliseconds: number) => void): void {
    const { wall } = this.allowed;
    if (wall === undefined) return;
    // A run that another node began has less left.
    const left = Math.max(0, this.start + wall - this.clock.now());
    this.#timeLimit = new TimeLimit(this.clock, left, () => onOver(wall));
  }

  /** Suspends the time limit while a script is debugged. @returns a function that resumes it */
  holdTime(): () => void {
    return this.#timeLimit?.hold() ?? (() => undefined);
  }

  /** Stops the time limit at the end of the run. */
  unlimitTime(): void {
    this.#timeLimit?.cancel();
  }

  /** Name of a script in stacks and for breakpoints of a debugger: the URL of its file. */
  get scriptUrl(): string {
    const { file } = this.program;
    return this.debug ? urlOf(file) : file;
  }

  /** What its module imports, named like `scriptUrl`. */
  get scriptModules(): readonly ScriptModule[] {
    const { modules = [] } = this.program.module ?? {};
    if (!this.debug) return modules;
    return modules.map((each) => ({ ...each, file: urlOf(each.file) }));
  }

  /** Cache key of its scripts in the sandbox: scripts of two domains may have the same name and number. */
  get scriptVersion(): string {
    const { entity = '', version, hash = version } = this.program;
    return `${entity} ${hash}`;
  }

  /** Counts a line of a `log` block. The first line over the limit is replaced by a notice, further ones are left out. */
  countLogLine(): 'kept' | 'first_left_out' | 'left_out' {
    this.#logLines += 1;
    const over = this.#logLines - this.allowed.log;
    return over <= 0 ? 'kept' : over === 1 ? 'first_left_out' : 'left_out';
  }

  /** File name of the run's next recording. */
  nameRecording(): string {
    this.#recordings += 1;
    return `${this.id}-${this.#recordings}.wav`;
  }

  /** Passes a milestone on. A throwing sink affects neither the scenario nor later answers. */
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

  /** Only the first error counts. */
  fail(error: RunError, cause: unknown): void {
    this.#error ??= error;
    const { block, code, message: reason, stack } = error;
    // A refusal says all by its code and text: a stack of the platform is for its own mistakes.
    const why = code === 'internal' ? { err: cause } : { reason, ...(stack && { at: stack }) };
    this.log.warn({ run: this.id, scenario: this.program.id, block, code, ...why }, 'scenario failed');
  }

  /** The first error; undefined while nothing has failed. */
  get error(): RunError | undefined {
    return this.#error;
  }

  /** Only the first reason counts. */
  interrupted(status: 'ended' | 'stopped', reason: string): void {
    this.#interruption ??= { status, reason };
  }

  /** Calls back when the other party or the system ends the call; at once when it has already ended. */
  onCallEnd(ended: (end: CallEnd) => void): () => void {
    const signal = this.call?.endSignal;
    if (!signal) return () => undefined;
    // Own actions (hang up, transfer) and failed calls, which have exits, are not interruptions.
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
   * True between the end of the call and this run's own listener. The parent run is notified first and would end this run,
   * which ends by itself.
   */
  get endIsNews(): boolean {
    return this.call?.endSignal.aborted === true && !this.#heardOfEnd;
  }

  /** A call end that the claim accepts does not interrupt the run, until the returned function is called. */
  claimEnd(claim: (end: CallEnd) => boolean): () => void {
    this.#claims.add(claim);
    return () => this.#claims.delete(claim);
  }

  /**
   * Ends the calls and scenarios of the run, so that no call is left unserved. After a failure, the fallback scenario takes
   * the call first. A second call ends those started since.
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
      if (call.state !== 'none' && call.state !== 'transferred') await call.hangup();
    } catch (error) {
      // The other party may have ended the call at the same moment.
      if (!(error instanceof CallStateError))
        this.log.error({ run: this.id, scenario: this.program.id, err: error }, 'call could not be released');
    }
  }

  /** Passes a live call to the fallback scenario after a failure. */
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
   * Replaces errors that the end of the call caused, such as missing media, by one error that says so, and names the component
   * where the call is in another state.
   * @param leg name of the call; undefined: the run's own
   */
  ofAuthor(error: unknown, component: string, leg: string | undefined): unknown {
    if (error instanceof CallStateError) return error.of(component);
    const known = [ScenarioError, SandboxError].some((each) => error instanceof each);
    const { endSignal } = (leg === undefined ? this.call : this.legs.find(leg)) ?? {};
    return known || endSignal?.aborted !== true ? error : callEnded(endSignal.reason as CallEnd, leg);
  }

  /** What another node needs of it; undefined for a run with calls, other scenarios, or values that must not be stored. */
  save(): SavedState | undefined {
    const { call, legs, children, mailbox, sensitive, trace } = this;
    const isAlone = (call === undefined || call.state === 'none') && legs.calls.length === 0 && !this.#borrowsCall;
    if (!isAlone || children.runs.length > 0 || !sensitive.isEmpty || this.debug || this.#error) return undefined;
    return {
      trace: trace.entries(),
      steps: trace.steps,
      messages: mailbox.unreceived,
      reported: this.#reported.values,
      ...(this.#value !== undefined && { value: this.#value }),
    };
  }

  #restore({ trace, steps, messages, reported, value }: SavedState): void {
    this.trace.restore(trace, steps);
    for (const message of messages) this.mailbox.deliver(message);
    this.#reported.set(reported);
    this.#value = value;
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

/** The URL of a file; of a script that is not a file its name. */
function urlOf(file: string): string {
  return path.isAbsolute(file) ? pathToFileURL(file).href : file;
}
