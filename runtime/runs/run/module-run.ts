/** Runs scenarios that are modules. */
import type { Json, ScriptRun } from '../../sandbox/index.ts';
import { CallStateError, isInterruption } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import {
  CALL_INFO,
  type ComponentDefinition,
  type ErrorCode,
  INTERRUPT,
  type ModuleSource,
  type Program,
  SCENARIO_INFO,
  ScenarioError,
  scriptLimits,
  usesCall,
  type Value as Plain,
} from '../../language/index.ts';
import { scriptTime } from '../clock.ts';
import { unavailable } from '../ports/capability.ts';
import { BaseRun, checkSettings } from './base-run.ts';
import { Ending } from './ending.ts';
import type { RunPlace } from './family.ts';
import { type HandedOver, Handover } from './handover.ts';
import type { Message } from './mailbox.ts';
import { isBrief, moduleSettings, reachesOut, wiredExits, zeroFields } from './module-settings.ts';
import { ModuleSteps } from './module-steps.ts';
import type { RunOptions } from './run.ts';
import type { RunOutcome } from './outcome.ts';
import { type SavedModule, type SavedRun, type SavedWait, sinceBegin } from './saved-run.ts';
import { callEnded, describeError } from './run-errors.ts';
import { boundArguments, callRecord } from './scope.ts';
import { type BlockTrace, INTERRUPTED, type TraceEntry } from './trace.ts';

const INFOS: ReadonlySet<string> = new Set([CALL_INFO, SCENARIO_INFO]);

/** What ends a module that has been cut short, when it does not catch it. */
const ENDINGS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'call_ended',
  'stopped',
  'call_state',
  'aborted',
  'step_limit',
]);

/** Milliseconds after which a module that continues without a wait must have caught the step limit. */
const UNCAUGHT_MS = 500;

/**
 * A run of a module: see `startRun`. Its components are commands of the script, and each one is a trace entry. At the end
 * of the call, the commands in progress throw `call_ended`; without any, the next command does. The module then has the
 * time of a `finally` branch.
 */
export class ModuleRun extends BaseRun {
  readonly #module: ModuleSource;
  readonly #args: Readonly<Record<string, Plain>>;
  /** Ends the script. */
  readonly #scriptControl = new AbortController();
  /** Ends the commands in progress. */
  #commandControl = new AbortController();
  #script: ScriptRun | undefined;
  #pending = 0;
  /** Number of commands in progress that an interruption does not cut short. */
  #pendingBrief = 0;
  /** A pending interruption for the next command, because no command in progress could be cut short. */
  #undelivered: { readonly reason: ScenarioError; readonly since: number } | undefined;
  /** Abandoned commands that are still in progress. */
  readonly #ending = new Ending();
  /** All commands in progress. */
  readonly #work = new Ending();
  /** Commands that use or make a call. */
  readonly #reaching = new Ending();
  /** Commands with their own `finally`: scenarios that run as functions. */
  readonly #functions = new Ending();
  /** The reason for giving up its call. */
  #barred: ScenarioError | undefined;
  #unwatch: (() => void) | undefined;
  readonly #steps: ModuleSteps;
  readonly #handover: Handover;
  readonly #resumed: SavedModule | undefined;
  /** It exceeded the step limit. */
  #endless: ScenarioError | undefined;

  constructor(program: Program, module: ModuleSource, options: RunOptions, place: RunPlace) {
    super(program, options, place);
    this.#module = module;
    this.#steps = new ModuleSteps(this.state.clock, this.state.limits.stepsWithoutWait);
    this.#args = module.declaresParameters ? boundArguments(program, options.args ?? {}) : (options.args ?? {});
    this.#resumed = options.resume?.module;
    this.#handover = new Handover(this.state, module, this.#resumed, (reason) => this.#taken(reason));
    if (this.#resumed !== undefined) this.remember(this.#resumed.memories);
    this.begin(() => this.#execute(), this.#resumed !== undefined);
  }

  override get isTaken(): boolean {
    return this.#handover.isTaken;
  }

  stop(reason: string): void {
    if (this.state.endIsNews || this.isTaken) return;
    this.#handover.goOn(() => this.#stop(reason));
  }

  #stop(reason: string): void {
    if (this.phase === 'main') {
      this.state.interrupted('stopped', reason);
      const stopped = new ScenarioError('stopped', reason);
      this.#leave(stopped);
      void this.#letGo(stopped);
    } else this.#scriptControl.abort(new ScenarioError('stopped', reason));
  }

  save(waitedMs: number): Promise<SavedRun | undefined> | undefined {
    if (this.phase !== 'main' || this.#undelivered !== undefined) return undefined;
    const saving = this.#handover.save(waitedMs, this.#pending, this.#script);
    return saving?.then((saved) => saved && this.#saved(saved));
  }

  #saved({ state, module }: HandedOver): SavedRun {
    return { ...this.savedWith(this.#args, state), module: { ...module, memories: this.memories() } };
  }

  #taken(reason: string): void {
    this.state.interrupted('stopped', reason);
    this.#scriptControl.abort(new ScenarioError('stopped', reason));
  }

  send(message: Message): boolean {
    if (this.phase === 'finished' || this.isTaken) return false;
    this.hear(message);
    this.#handover.goOn(() => {
      this.#script?.emit({ type: 'message', name: message.name, data: message.data, from: message.from });
    });
    this.state.mailbox.deliver(message);
    return true;
  }

  async #execute(): Promise<RunOutcome> {
    const unlisten = this.state.onCallEnd((end) => this.#callEnded(end));
    this.#unwatch = this.#watch();
    try {
      this.#script = this.#start();
      const { value } = await this.#script.finished;
      this.state.returned(value);
    } catch (error) {
      // Its process may have died while it waited.
      const isMine = this.#handover.isMine();
      if (isMine !== true) await isMine;
      const failure = describeError(error);
      // An uncaught error after the end of the call is the module's normal end.
      const over = this.phase !== 'main' && ENDINGS.has(failure.code);
      const endless = failure.code === this.#endless?.code;
      if (!this.isTaken && (!over || endless)) this.state.fail({ ...failure, block: '' }, error);
      if (endless) this.#endless = undefined;
    }
    this.#failEndless();
    unlisten();
    this.#unwatch();
    this.#commandControl.abort(new ScenarioError('over', 'the scenario is over'));
    this.advance('branch_done', false);
    await this.state.release();
    // The trace shows the end of every function, also of those without `await`.
    await this.#work.over(this.state.clock, this.state.limits.graceMs);
    const usage = this.#script?.usage();
    return { ...this.state.outcome(), ...(usage ? { usage } : {}) };
  }

  #failEndless(): void {
    if (this.#endless) this.state.fail({ ...describeError(this.#endless), block: '' }, this.#endless);
    this.#endless = undefined;
  }

  /** The trace of the command in progress. */
  get #branch(): TraceEntry['branch'] {
    return this.phase === 'main' ? 'main' : 'finally';
  }

  /** Passes actions of the other party to `events.on('dtmf' | 'hold' | 'unhold' | 'sip', ...)`. */
  #watch(): () => void {
    const { call } = this.state;
    if (!call) return () => undefined;
    return call.watch(({ kind, ...data }) => {
      this.#script?.emit({ type: kind, ...data });
      // A key for a listener of the script is used up; otherwise the next listening component gets it.
      const usedUp = kind === 'dtmf' && this.#script?.listensForKeys === true;
      const what = kind === 'dtmf' && 'digit' in data ? `dtmf ${data.digit}` : kind;
      if (usedUp || kind !== 'dtmf') this.state.trace.told(this.state.clock.now(), what);
      return usedUp;
    });
  }

  #start(): ScriptRun {
    const { services, trace, clock } = this.state;
    if (!services.sandbox) throw unavailable('this node runs no scripts');
    const goOn = this.state.debug ? this.state.holdTime() : undefined;
    return services.sandbox.start({
      source: this.#module.source,
      format: this.#module.format,
      kind: 'module',
      file: this.state.scriptUrl,
      modules: this.state.scriptModules,
      debug: this.state.debug,
      onUndebugged: () => {
        this.state.undebugged();
        goOn?.();
      },
      title: `${this.program.id}, run ${this.id}`,
      version: this.state.scriptVersion,
      owner: this.state.domain,
      args: this.#args,
      commands: this.#module.commands,
      secrets: this.state.secrets.placeholders,
      limits: scriptLimits(this.state.allowed),
      resume: this.#resumed?.script,
      onCommand: (name, args, signal, id) => this.#command(name, args, signal, id),
      // A virtual clock stands still while the script works.
      ...(clock.busy ? { onWork: (work: Promise<unknown>) => void clock.busy?.(work) } : {}),
      onHeard: () => (this.#undelivered = undefined),
      onLog: (level, text) => {
        const line = trace.begin({ branch: this.#branch, block: 'log', component: 'log', start: clock.now() });
        line.logged(`${level}: ${text}`);
        line.end(clock.now(), { exit: 'next' });
        this.state.log[level]({ run: this.id, scenario: this.program.id, text }, 'scenario says');
      },
      ...scriptTime(clock),
      signal: this.#scriptControl.signal,
    });
  }

  async #command(name: string, args: readonly Json[], scriptSignal: AbortSignal, id: number): Promise<unknown> {
    const resumed = this.#handover.begins(id);
    this.#countStep();
    if (INFOS.has(name)) return this.#info(name);
    const component = this.#module.methods.get(name);
    if (!component) throw new ScenarioError('internal', `there is no ${name}`);
    const reaches = reachesOut(component);
    if (this.#barred && reaches) throw this.#barred;
    const brief = isBrief(component) && !this.#isOverdue;
    const began = resumed?.began ?? this.state.clock.now();
    this.#pending += 1;
    if (brief) this.#pendingBrief += 1;
    const interrupted = brief ? undefined : this.#interruption();
    try {
      // Cancelled commands must end first: a cancelled transfer returns the call.
      if (usesCall(component)) await this.#ending.over(this.state.clock, this.state.limits.graceMs);
      const signal = AbortSignal.any([called(scriptSignal), ...(interrupted ? [interrupted] : [])]);
      const running = this.#run(name, component, args, signal, { id, resumed });
      this.#work.add(running);
      if (reaches) this.#reaching.add(running);
      if (component.hasOwnEnd === true) this.#functions.add(running);
      scriptSignal.addEventListener('abort', () => this.#ending.add(running), { once: true });
      return await running;
    } finally {
      const isMine = this.#handover.ended(id);
      if (isMine !== true) await isMine;
      this.#steps.end(began);
      this.#pending -= 1;
      if (brief) this.#pendingBrief -= 1;
    }
  }

  /**
   * Fails a module at the step limit. It may clean up, and is ended when the cleanup exceeds the limit too.
   * @throws ScenarioError code `step_limit`
   */
  #countStep(): void {
    try {
      this.#steps.begin();
    } catch (error) {
      this.#endless ??= error as ScenarioError;
      if (this.phase !== 'main') this.#scriptControl.abort(error);
      this.#leave(error as ScenarioError);
      void this.#letGo(error as ScenarioError);
      this.#undelivered = undefined;
      throw error;
    }
  }

  /**
   * True for a stop that is pending for longer than the grace time: a module that issues only instant commands would
   * otherwise never notice it. A hang-up is left out, because the module may have much to store.
   */
  get #isOverdue(): boolean {
    if (!this.#undelivered || callIsOver(this.#undelivered.reason)) return false;
    const { clock, limits } = this.state;
    return clock.now() - this.#undelivered.since >= limits.graceMs;
  }

  #info(name: string): unknown {
    if (this.#isOverdue) this.#interruption().throwIfAborted();
    if (name === CALL_INFO) return callRecord(this.state.call);
    return { id: this.program.id, version: this.program.version, run: this.id, language: this.state.language };
  }

  /** The interruption of commands in progress, or a pending one for the next command. */
  #interruption(): AbortSignal {
    const undelivered = this.#undelivered;
    this.#undelivered = undefined;
    return undelivered ? AbortSignal.abort(undelivered.reason) : this.#commandControl.signal;
  }

  async #run(
    name: string,
    component: ComponentDefinition,
    args: readonly Json[],
    signal: AbortSignal,
    { id, resumed }: { readonly id: number; readonly resumed: SavedWait | undefined },
  ): Promise<unknown> {
    const { clock, trace: runTrace } = this.state;
    const began = resumed?.began ?? clock.now();
    const entry = { branch: this.#branch, block: name, component: component.name, start: began };
    const trace = resumed === undefined ? runTrace.begin(entry) : runTrace.reopen(resumed.step, entry);
    this.#handover.runs(component, { id, began, step: trace.step });
    let early: Readonly<Record<string, Plain>> = {};
    const legs: (string | undefined)[] = [];
    try {
      signal.throwIfAborted();
      const { settings, leg } = moduleSettings(component, args);
      legs.push(leg, ...legNamed(component, settings));
      checkSettings(name, component, settings);
      const { exit, fields } = await this.perform(component, settings, {
        name,
        leg,
        exits: wiredExits(component, args),
        trace,
        signal,
        clock: resumed && sinceBegin(clock, began),
        result: (known) => {
          early = known;
          trace.result(known);
        },
      });
      if (fields) trace.result(fields);
      // A call that was hung up while ringing was also refused. An instant command was done, awaited or not.
      if (!isBrief(component)) signal.throwIfAborted();
      trace.end(clock.now(), { exit });
      return { exit, ...zeroFields(component), ...early, ...fields };
    } catch (error) {
      const cut = this.#cutShort(component, early, signal, trace);
      if (cut) return { ...zeroFields(component), ...cut };
      const { code, message } = describeError(signal.aborted ? signal.reason : this.#ofHangUp(error, legs));
      if (!signal.aborted) trace.end(clock.now(), { exit: 'error', error: { code, message } });
      throw new ScenarioError(code, message, { cause: error });
    }
  }

  /** Ends the trace of an interrupted command. @returns its result despite the end: a hang-up finishes a recording */
  #cutShort(
    { hangUpExit: exit }: ComponentDefinition,
    early: Readonly<Record<string, Plain>>,
    signal: AbortSignal,
    trace: BlockTrace,
  ): Readonly<Record<string, Plain>> | undefined {
    if (!signal.aborted) return undefined;
    trace.end(this.state.clock.now(), { exit: INTERRUPTED });
    const hungUp = describeError(signal.reason).code === 'call_ended';
    return hungUp && exit !== undefined && Object.keys(early).length > 0 ? { exit, ...early } : undefined;
  }

  /** Gives every failure after a hang-up the same code. @param legs the calls of the command */
  #ofHangUp(error: unknown, legs: readonly (string | undefined)[]): unknown {
    if (!(error instanceof CallStateError)) return error;
    for (const leg of legs) {
      const { endSignal } = (leg === undefined ? this.state.call : this.state.legs.find(leg)) ?? {};
      const end = endSignal?.aborted === true ? (endSignal.reason as CallEnd) : undefined;
      if (end && isInterruption(end)) return callEnded(end, leg);
    }
    return error;
  }

  #callEnded(end: CallEnd): void {
    this.#handover.goOn(() => {
      this.state.interrupted('ended', `${end.by}: ${end.reason}`);
      this.#leave(callEnded(end));
    });
  }

  /**
   * Takes the calls from a run that is stopped or over a limit. Its caller goes to the fallback or is hung up; its further
   * calls are hung up. Those that wait for the run continue, without waiting for its cleanup. Never rejects.
   */
  async #letGo(reason: ScenarioError): Promise<void> {
    if (this.#barred) return;
    this.#barred = reason;
    this.#unwatch?.();
    const { clock, limits } = this.state;
    await this.#reaching.over(clock, limits.graceMs);
    if (this.#endless) {
      // The place is known only when the module has not caught the error.
      const script = new Ending();
      if (this.#script) script.add(this.#script.finished);
      await script.over(clock, UNCAUGHT_MS);
      this.#failEndless();
    }
    await this.state.release();
    this.settle(this.state.outcome());
  }

  /** Ends the commands in progress; the module has limited time to clean up. */
  #leave(reason: ScenarioError): void {
    if (this.phase !== 'main') return;
    this.advance('interrupt', true);
    this.advance('branch_done', true);
    // A call that ended before the script's start does not interrupt it.
    const nobodyHears = this.#pending === 0 || this.#pendingBrief > 0;
    const { clock, limits } = this.state;
    if (nobodyHears && (this.#script || !callIsOver(reason))) this.#undelivered = { reason, since: clock.now() };
    this.#commandControl.abort(reason);
    this.#commandControl = new AbortController();
    this.#script?.interrupt(reason);
    const tooLong = new ScenarioError('time_limit', `the module went on for more than ${limits.finallyMs} ms`);
    // A scenario that runs as a function uses its own time first.
    this.#functions
      .all()
      .then(() => clock.sleep(limits.finallyMs, this.#scriptControl.signal))
      .then(
        () => this.#scriptControl.abort(tooLong),
        () => undefined,
      );
    void Promise.allSettled([this.#script?.finished]).then(() => this.#scriptControl.abort(reason));
  }
}

/** An abandoned command ends as by an interrupt: a ringing transfer is cancelled, and the call stays. */
function called(scriptSignal: AbortSignal): AbortSignal {
  const control = new AbortController();
  const end = (): void => control.abort(new ScenarioError(INTERRUPT, 'the script no longer waits for it'));
  if (scriptSignal.aborted) end();
  scriptSignal.addEventListener('abort', end, { once: true });
  return control.signal;
}

function callIsOver({ code }: ScenarioError): boolean {
  return code === 'call_ended';
}

/** The further call named by the settings of a component, e.g. `bridge`. */
function legNamed({ legSetting }: ComponentDefinition, settings: unknown): readonly string[] {
  const name = legSetting === undefined ? undefined : (settings as Readonly<Record<string, unknown>>)[legSetting];
  return typeof name === 'string' ? [name] : [];
}
