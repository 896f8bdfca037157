/** Runs scenarios of blocks. */
import type { CallEnd } from '../call-values.ts';
import type { ComponentResult } from '../component.ts';
import {
  type Block,
  END,
  ERROR_EXIT,
  evaluate,
  INTERRUPT,
  type Program,
  ScenarioError,
  type Value,
} from '../../language/index.ts';
import { BaseRun, checkSettings, isSensitive } from './base-run.ts';
import type { RunPlace } from './family.ts';
import { type InterruptEvent, Interrupts } from './interrupts.ts';
import type { Message } from './mailbox.ts';
import { isBrief } from './module-settings.ts';
import type { RunOptions } from './run.ts';
import type { RunOutcome } from './outcome.ts';
import { callEnded, describeError } from './run-errors.ts';
import { RunScope } from './scope.ts';
import { SensitiveNames } from './sensitive-names.ts';
import { StepBudget } from './step-budget.ts';
import { type SavedRun, sinceBegin } from './saved-run.ts';
import { type BlockTrace, INTERRUPTED } from './trace.ts';

type Branch = 'main' | 'finally';

/** Limit of pending interrupts. */
const MAX_DETOURS = 32;

/** The target of an interrupt, with its event. */
interface Detour {
  readonly target: string;
  readonly event: InterruptEvent;
}

/** A run of a scenario of blocks: see `startRun`. */
export class ScenarioRun extends BaseRun {
  readonly #scope: RunScope;
  readonly #secret: SensitiveNames;
  readonly #interrupts: Interrupts;
  readonly #detours: Detour[] = [];
  /** Ends the current branch. */
  #branchControl = new AbortController();
  /** Ends the current block, by an interrupt. */
  #blockControl = new AbortController();
  /** The block that waits for something that may come to any node. */
  #waiting: { readonly block: string; readonly began: number } | undefined;
  readonly #args: Readonly<Record<string, Value>>;
  readonly #resumed: SavedRun | undefined;
  #isTaken = false;
  /** The block was cut short, and a scenario that it runs as a function ends first. */
  #unwinds = false;

  constructor(program: Program, options: RunOptions, place: RunPlace) {
    super(program, options, place);
    const { placeholders: secrets } = this.state.secrets;
    this.#secret = new SensitiveNames(this.state.sensitive);
    const { args = {}, call, resume, variables = resume?.blocks?.variables } = options;
    this.#args = args;
    this.#resumed = resume;
    const now = (): number => this.state.clock.now();
    const language = (): string => this.state.language;
    this.#scope = new RunScope(program, args, call, this.state.id, { variables, secrets, now, language });
    this.#interrupts = new Interrupts(program.interrupts, (target, event) => {
      const kept = this.state.undisturbed && (event.kind === 'dtmf' || event.kind === 'after');
      if (!kept) this.#detour({ target, event });
    });
    if (resume?.blocks !== undefined) {
      this.#scope.restore(resume.blocks.held);
      this.remember(resume.blocks.memories);
    }
    this.begin(() => this.#execute(), resume !== undefined);
  }

  override get isTaken(): boolean {
    return this.#isTaken;
  }

  save(waitedMs: number): SavedRun | undefined {
    const now = this.state.clock.now();
    const { block = '', began = now } = this.#waiting ?? {};
    if (this.phase !== 'main' || this.#detours.length > 0 || now - began < waitedMs) return undefined;
    const state = this.state.save();
    if (state === undefined) return undefined;
    // The block that waits begins again.
    const trace = state.trace.filter(({ exit }) => exit !== undefined);
    return {
      ...this.savedWith(this.#args, { ...state, trace, steps: state.steps - 1 }),
      blocks: { block, began, variables: this.#scope.variables(), held: this.#scope.held(), memories: this.memories() },
    };
  }

  stop(reason: string): void {
    if (this.state.endIsNews) return;
    if (this.phase === 'main') this.state.interrupted('stopped', reason);
    if (this.#unwinds) this.state.children.stopCalled(reason);
    this.#interrupt(new ScenarioError('stopped', reason));
  }

  send(message: Message): boolean {
    if (this.phase === 'finished') return false;
    this.hear(message);
    if (this.phase === 'main' && this.#interrupts.message(message)) return true;
    if (!this.state.mailbox.deliver(message))
      this.state.log.warn(
        { run: this.id, scenario: this.program.id },
        'too many unreceived messages, the oldest is dropped',
      );
    // What is kept of the run lacks the message, and is kept anew.
    if (this.#waiting !== undefined) void this.#staysUnlessTaken();
    return true;
  }

  async #execute(): Promise<RunOutcome> {
    const unlisten = this.state.onCallEnd((end) => this.#callEnded(end));
    if (this.#watch()) await this.#branch('main', this.#resumed?.blocks?.block ?? this.program.start);
    unlisten();
    this.#interrupts.stop();
    this.advance('branch_done', this.program.finally !== undefined && !this.#isTaken);
    // Also a failure outside of blocks, such as an exceeded limit.
    if (this.state.error !== undefined) this.#scope.setError(this.state.error);
    if (this.program.finally !== undefined && !this.#isTaken) await this.#runFinally(this.program.finally);
    await this.state.release();
    return { ...this.state.outcome(), variables: this.#scope.variables() };
  }

  /** @returns false when the node lacks a source of the interrupts; the run has failed */
  #watch(): boolean {
    const { call, clock, services, domain } = this.state;
    try {
      this.#interrupts.start({ call, clock, events: services.events, domain, resumed: this.#resumed });
      return true;
    } catch (error) {
      this.state.fail({ ...describeError(error), block: '' }, error);
      return false;
    }
  }

  async #runFinally(start: string): Promise<void> {
    const { clock, limits } = this.state;
    this.#branchControl = new AbortController();
    const done = new AbortController();
    const tooLong = `the finally branch took longer than ${limits.finallyMs} ms`;
    const limit = clock.sleep(limits.finallyMs, done.signal).then(
      () => this.#interrupt(new ScenarioError('time_limit', tooLong)),
      () => undefined,
    );
    await this.#branch('finally', start);
    done.abort();
    await limit;
    this.advance('branch_done', true);
  }

  /** Runs blocks until an exit to `end`, a failure without an `error` exit, or an interruption of the branch. */
  async #branch(branch: Branch, start: string): Promise<void> {
    const { signal } = this.#branchControl;
    const budget = new StepBudget(this.state.limits.stepsWithoutWait);
    let name: string | undefined = start;
    try {
      while (name !== undefined && name !== END && !signal.aborted) {
        const block: Block | undefined = this.program.blocks.get(name);
        if (!block) throw new ScenarioError('internal', `there is no block ${name}`);
        await budget.step(this.state.clock);
        const began = this.state.clock.now();
        name = await this.#runBlock(branch, block, signal);
        budget.took(this.state.clock.now() - began);
        // A pending interrupt cuts the next block that takes time short; instant blocks run first.
        const goesOn = name !== undefined && name !== END;
        if (branch === 'main' && !goesOn && this.state.error === undefined) name = this.#takeDetour() ?? name;
      }
    } catch (error) {
      this.state.fail({ ...describeError(error), block: name ?? '' }, error);
    }
  }

  #takeDetour(): string | undefined {
    const detour = this.#detours.shift();
    if (!detour) return undefined;
    this.#scope.setEvent(detour.event);
    return detour.target;
  }

  /** Target of the taken exit; undefined when the run cannot continue. */
  async #runBlock(branch: Branch, block: Block, branchSignal: AbortSignal): Promise<string | undefined> {
    const { clock } = this.state;
    const { name } = block;
    const start = this.#beginOf(branch, block);
    const trace = this.state.trace.begin({ branch, block: name, component: block.component.name, start });
    const signal = isBrief(block.component) ? branchSignal : this.#blockSignal(branch, branchSignal);
    let result: ComponentResult | typeof INTERRUPTED;
    try {
      const running = this.#runComponent(block, trace, signal);
      result = await this.#kept(this.#untilAbandoned(block, running, signal));
      if (result === INTERRUPTED) return this.#cutShort(trace);
      this.#apply(block, result);
    } catch (error) {
      return signal.aborted ? this.#cutShort(trace) : this.#leaveByError(block, error, trace);
    }
    const { exit, fields, assign } = result;
    trace.end(clock.now(), {
      // A call that was hung up while ringing was also refused.
      exit: branchSignal.aborted ? INTERRUPTED : this.#secret.exit(block, exit),
      ...(fields ? { result: fields } : {}),
      ...(assign ? { variables: this.#secret.shown(assign) } : {}),
    });
    return block.exits.get(exit);
  }

  /** Notes a block that waits, and may be resumed. @returns its begin, which may have been at another node */
  #beginOf(branch: Branch, { name, component }: Block): number {
    const now = this.state.clock.now();
    if (branch !== 'main' || component.resumes !== true || this.state.services.keeper === undefined) return now;
    const { block, began } = this.#resumed?.blocks ?? {};
    const isResumed = this.state.trace.steps === this.#resumed?.state.steps && block === name;
    this.#waiting = { block: name, began: isResumed ? (began ?? now) : now };
    return this.#waiting.began;
  }

  /** Ends this run when another node has it. */
  async #kept<Result>(waiting: Promise<Result>): Promise<Result> {
    if (this.#waiting === undefined) return await waiting;
    try {
      return await waiting;
    } finally {
      this.#waiting = undefined;
      await this.#staysUnlessTaken();
    }
  }

  async #staysUnlessTaken(): Promise<void> {
    if (this.#isTaken || (await this.state.services.keeper?.goesOn(this.id)) !== false) return;
    this.#isTaken = true;
    this.stop('another node has taken it over');
  }

  /** The branch's signal, combined with one for interrupts of a single block. */
  #blockSignal(branch: Branch, branchSignal: AbortSignal): AbortSignal {
    if (branch === 'finally' || this.program.interrupts.length === 0) return branchSignal;
    this.#blockControl = new AbortController();
    // An interrupt that came between two blocks.
    if (this.#detours.length > 0) this.#blockControl.abort(new ScenarioError(INTERRUPT, 'an event came'));
    return AbortSignal.any([branchSignal, this.#blockControl.signal]);
  }

  #cutShort(trace: BlockTrace): undefined {
    const [detour] = this.#detours;
    if (detour) trace.interrupted(`${detour.event.kind} ${detour.event.name}`.trim());
    trace.end(this.state.clock.now(), { exit: INTERRUPTED });
  }

  async #runComponent(block: Block, trace: BlockTrace, signal: AbortSignal): Promise<ComponentResult> {
    signal.throwIfAborted();
    const { component } = block;
    const settings = evaluate(block.settings, this.#scope.values);
    if (block.settings.kind !== 'constant') checkSettings(component.name, component, settings);
    this.#secret.reads(block.settings, this.#scope.values);
    if (this.#secret.derives(block)) trace.hides(Object.keys(component.results));
    const result = await this.perform(component, settings, {
      name: block.name,
      leg: block.leg,
      script: block.script,
      exits: new Set(block.exits.keys()),
      trace,
      signal,
      clock: this.#waiting && sinceBegin(this.state.clock, this.#waiting.began),
      result: (fields) => {
        trace.result(fields);
        this.#scope.setResult(block.name, fields);
      },
    });
    this.#secret.ended(block, result, isSensitive(settings));
    return result;
  }

  /**
   * Waits for the block. A block that does not end within the grace time after an interrupt is abandoned. A scenario that runs
   * as a function has its own time for `finally`.
   */
  async #untilAbandoned(
    block: Block,
    running: Promise<ComponentResult>,
    signal: AbortSignal,
  ): Promise<ComponentResult | typeof INTERRUPTED> {
    const { clock, limits, log } = this.state;
    const settled = new AbortController();
    const abandoned = Promise.withResolvers<typeof INTERRUPTED>();
    const onAbort = (): void => {
      const isOver = this.phase === 'leaving' || this.#detours[0]?.event.kind === 'hangup';
      this.#unwinds = isOver && block.component.hasOwnEnd === true;
      if (this.#unwinds) return;
      clock.sleep(limits.graceMs, settled.signal).then(
        () => {
          log.error(
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
      this.#unwinds = false;
    }
  }

  #apply(block: Block, { exit, fields, assign, returns }: ComponentResult): void {
    if (!block.exits.has(exit))
      throw new ScenarioError('internal', `${block.component.name} took the exit ${exit}, which leads nowhere`);
    for (const [name, value] of Object.entries(assign ?? {})) this.#scope.assign(name, value);
    if (fields) this.#scope.setResult(block.name, fields);
    if (returns !== undefined) this.state.returned(returns);
  }

  #leaveByError(block: Block, error: unknown, trace: BlockTrace): string | undefined {
    const description = describeError(error);
    trace.end(this.state.clock.now(), { exit: ERROR_EXIT, error: description });
    this.#scope.setError({ code: description.code, message: description.message, block: block.name });
    const target = block.exits.get(ERROR_EXIT);
    if (target === undefined) this.state.fail({ ...description, block: block.name }, error);
    return target;
  }

  #callEnded(end: CallEnd): void {
    this.state.interrupted('ended', `${end.by}: ${end.reason}`);
    if (this.phase !== 'main' || !this.#interrupts.hungUp(end.by)) this.#interrupt(callEnded(end));
  }

  #detour(detour: Detour): void {
    if (this.phase !== 'main') return;
    if (this.#detours.length >= MAX_DETOURS) {
      this.state.log.warn({ run: this.id, scenario: this.program.id }, 'too many events interrupt, one is left out');
      return;
    }
    this.#detours.push(detour);
    this.#blockControl.abort(new ScenarioError(INTERRUPT, `${detour.event.kind} came`));
  }

  #interrupt(reason: Error): void {
    this.advance('interrupt', this.program.finally !== undefined);
    this.#branchControl.abort(reason);
  }
}
