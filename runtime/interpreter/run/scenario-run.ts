import { randomUUID } from 'node:crypto';
import { Value } from 'typebox/value';
import type { CallEnd, CallPort } from '../call-port.ts';
import { CallStateError } from '../call-port.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type ComponentContext, type ComponentResult, END, ERROR_EXIT, type Report } from '../component.ts';
import { ScenarioError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Block, type Program, evaluate } from '../program.ts';
import { isSoundProblem, resolveSound } from '../prompts.ts';
import type { Value as Plain } from '../values.ts';
import { type RunPhase, nextPhase } from './phase.ts';
import type { Run, RunError, RunLimits, RunOptions, RunOutcome } from './run.ts';
import { RunScope } from './scope.ts';
import { StepBudget } from './step-budget.ts';
import { type BlockTrace, INTERRUPTED, Trace, type TraceEntry } from './trace.ts';

const DEFAULT_LIMITS: RunLimits = {
  stepsWithoutWait: 1000,
  traceEntries: 500,
  finallyMs: 60_000,
  graceMs: 5000,
};

type Branch = 'main' | 'finally';

/** The run itself: see `startRun`. */
export class ScenarioRun implements Run {
  readonly id: string;
  readonly program: Program;
  readonly finished: Promise<RunOutcome>;
  readonly #call: CallPort | undefined;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #limits: RunLimits;
  readonly #sink: (report: Report) => void;
  readonly #scope: RunScope;
  readonly #trace: Trace;
  readonly #start: number;
  #phase: RunPhase = 'main';
  #result: Record<string, Plain> = {};
  #error: RunError | undefined;
  #interruption: { readonly status: 'ended' | 'stopped'; readonly reason: string } | undefined;
  /** Of the branch that runs now; aborted to interrupt its block. */
  #controller = new AbortController();

  constructor(program: Program, options: RunOptions) {
    this.program = program;
    this.id = options.id ?? randomUUID();
    this.#call = options.call;
    this.#log = options.log;
    this.#clock = options.clock ?? systemClock;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#sink = options.report ?? (() => undefined);
    this.#scope = new RunScope(program, options.args ?? {}, options.call);
    this.#trace = new Trace(this.#limits.traceEntries);
    this.#start = this.#clock.now();
    this.finished = this.#execute();
  }

  get trace(): readonly TraceEntry[] {
    return this.#trace.entries();
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  stop(reason: string): void {
    if (this.#phase === 'main') this.#interruption = { status: 'stopped', reason };
    this.#interrupt(new ScenarioError('stopped', reason));
  }

  async #execute(): Promise<RunOutcome> {
    const unlisten = this.#listenForCallEnd();
    await this.#branch('main', this.program.start);
    unlisten();
    this.#phase = nextPhase(this.#phase, 'branch_done', this.program.finally !== undefined);
    if (this.program.finally !== undefined) await this.#runFinally(this.program.finally);
    await this.#releaseCall();
    return this.#outcome();
  }

  async #runFinally(start: string): Promise<void> {
    this.#controller = new AbortController();
    const done = new AbortController();
    const limit = this.#clock.sleep(this.#limits.finallyMs, done.signal).then(
      () =>
        this.#interrupt(
          new ScenarioError('time_limit', `the finally branch took longer than ${this.#limits.finallyMs} ms`),
        ),
      () => undefined,
    );
    await this.#branch('finally', start);
    done.abort();
    await limit;
    this.#phase = nextPhase(this.#phase, 'branch_done', true);
  }

  /** Runs blocks until one leads to `end`, fails without an `error` exit, or the branch is interrupted. */
  async #branch(branch: Branch, start: string): Promise<void> {
    const { signal } = this.#controller;
    const budget = new StepBudget(this.#limits.stepsWithoutWait);
    let name: string | undefined = start;
    try {
      while (name !== undefined && name !== END && !signal.aborted) {
        const block: Block | undefined = this.program.blocks.get(name);
        if (!block) throw new ScenarioError('internal', `there is no block ${name}`);
        await budget.step();
        const began = this.#clock.now();
        name = await this.#runBlock(branch, block, signal);
        budget.took(this.#clock.now() - began);
      }
    } catch (error) {
      this.#fail({ ...describeError(error), block: name ?? '' }, error);
    }
  }

  /** Target of the exit the block took; undefined when there is none to go on with. */
  async #runBlock(branch: Branch, block: Block, signal: AbortSignal): Promise<string | undefined> {
    const trace = this.#trace.begin({
      branch,
      block: block.name,
      component: block.component.name,
      start: this.#clock.now(),
    });
    let result: ComponentResult | typeof INTERRUPTED;
    try {
      result = await this.#untilAbandoned(block, this.#runComponent(block, trace, signal), signal);
      if (result === INTERRUPTED) {
        trace.end(this.#clock.now(), { exit: INTERRUPTED });
        return undefined;
      }
      this.#apply(block, result);
    } catch (error) {
      return this.#leaveByError(block, error, trace, signal);
    }
    const { exit, fields, assign } = result;
    trace.end(this.#clock.now(), {
      exit,
      ...(fields ? { result: fields } : {}),
      ...(assign ? { variables: assign } : {}),
    });
    return block.exits.get(exit);
  }

  async #runComponent(block: Block, trace: BlockTrace, signal: AbortSignal): Promise<ComponentResult> {
    const settings = evaluate(block.settings, this.#scope.values);
    if (block.settings.kind !== 'constant' && !Value.Check(block.component.settings, settings)) {
      const [problem] = Value.Errors(block.component.settings, settings);
      const where = problem?.instancePath.replace(/^\//, '') ?? '';
      throw new ScenarioError(
        'setting',
        `${block.component.name}: the setting ${where} ${problem?.message ?? 'is not allowed'}`,
      );
    }
    return block.component.run(this.#context(block, trace, signal), settings);
  }

  /** Waits for the block; one that does not end within the grace time after an interrupt is left behind. */
  async #untilAbandoned(
    block: Block,
    running: Promise<ComponentResult>,
    signal: AbortSignal,
  ): Promise<ComponentResult | typeof INTERRUPTED> {
    const settled = new AbortController();
    const abandoned = Promise.withResolvers<typeof INTERRUPTED>();
    const onAbort = (): void => {
      this.#clock.sleep(this.#limits.graceMs, settled.signal).then(
        () => {
          this.#log.error(
            { run: this.id, scenario: this.program.id, block: block.name },
            'block did not end after an interrupt',
          );
          abandoned.resolve(INTERRUPTED);
        },
        () => undefined,
      );
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([running, abandoned.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      settled.abort();
    }
  }

  #apply(block: Block, { exit, fields, assign }: ComponentResult): void {
    if (!block.exits.has(exit))
      throw new ScenarioError('internal', `${block.component.name} took the exit ${exit}, which leads nowhere`);
    for (const [name, value] of Object.entries(assign ?? {})) this.#scope.assign(name, value);
    if (fields) this.#scope.setResult(block.name, fields);
  }

  #leaveByError(block: Block, error: unknown, trace: BlockTrace, signal: AbortSignal): string | undefined {
    if (signal.aborted) {
      trace.end(this.#clock.now(), { exit: INTERRUPTED });
      return undefined;
    }
    const description = describeError(error);
    trace.end(this.#clock.now(), { exit: ERROR_EXIT, error: description });
    this.#scope.setError({ ...description, block: block.name });
    const target = block.exits.get(ERROR_EXIT);
    if (target === undefined) this.#fail({ ...description, block: block.name }, error);
    return target;
  }

  #context(block: Block, trace: BlockTrace, signal: AbortSignal): ComponentContext {
    const call = this.#call;
    return {
      get call() {
        if (!call) throw new ScenarioError('no_call', `${block.component.name} needs a call, and this run has none`);
        return call;
      },
      signal,
      clock: this.#clock,
      log: this.#log,
      exits: new Set(block.exits.keys()),
      sound: (text) => {
        const sound = resolveSound(text, this.program.promptsFolder);
        if (isSoundProblem(sound)) throw new ScenarioError('no_such_prompt', sound.message);
        return sound;
      },
      report: (report) => {
        if (report.fields) this.#result = { ...this.#result, ...report.fields };
        this.#pass({ at: this.#clock.now(), ...report });
      },
      answered: (party, answer) => trace.answered(this.#clock.now(), party, answer),
    };
  }

  /** A sink that throws harms neither the scenario nor the answers that come after it. */
  #pass(report: Report): void {
    try {
      this.#sink(report);
    } catch (error) {
      this.#log.error({ run: this.id, milestone: report.milestone, err: error }, 'report could not be passed on');
    }
  }

  #listenForCallEnd(): () => void {
    const signal = this.#call?.endSignal;
    if (!signal) return () => undefined;
    const ended = (): void => this.#callEnded(signal.reason as CallEnd);
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended, { once: true });
    return () => signal.removeEventListener('abort', ended);
  }

  /** What the scenario did itself (hang up, transfer) or learns by an exit (a call that failed) is no interruption. */
  #callEnded({ by, reason }: CallEnd): void {
    if (by !== 'opponent' && by !== 'external') return;
    this.#interruption ??= { status: 'ended', reason: `${by}: ${reason}` };
    this.#interrupt(
      new ScenarioError('call_ended', `the call was ended by the ${by === 'opponent' ? 'other party' : 'system'}`),
    );
  }

  #interrupt(reason: Error): void {
    this.#phase = nextPhase(this.#phase, 'interrupt', this.program.finally !== undefined);
    this.#controller.abort(reason);
  }

  #fail(error: RunError, cause: unknown): void {
    this.#error ??= error;
    this.#log.warn(
      { run: this.id, scenario: this.program.id, block: error.block, code: error.code, err: cause },
      'scenario failed',
    );
  }

  /** A run leaves no call behind that nobody serves any more. */
  async #releaseCall(): Promise<void> {
    const call = this.#call;
    if (!call || call.endSignal.aborted) return;
    try {
      if (call.state === 'incoming') await call.reject(480);
      else if (call.state === 'outgoing' || call.state === 'connected') await call.hangup();
    } catch (error) {
      // The other party may have ended the call at the same moment.
      if (!(error instanceof CallStateError))
        this.#log.error({ run: this.id, scenario: this.program.id, err: error }, 'call could not be released');
    }
  }

  #outcome(): RunOutcome {
    const status = this.#error ? 'failed' : (this.#interruption?.status ?? 'completed');
    return {
      status,
      ...(this.#error ? { error: this.#error } : {}),
      ...(this.#interruption ? { reason: this.#interruption.reason } : {}),
      result: this.#result,
      steps: this.#trace.steps,
      start: this.#start,
      milliseconds: this.#clock.now() - this.#start,
    };
  }
}

function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof ScenarioError) return { code: error.code, message: error.message };
  if (error instanceof CallStateError) return { code: 'call_state', message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}
