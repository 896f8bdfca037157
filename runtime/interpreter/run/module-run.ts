import { Value } from 'typebox/value';
import type { Json, ScriptRun } from '../../sandbox/index.ts';
import type { CallEnd } from '../call-port.ts';
import type { Component } from '../component.ts';
import { ScenarioError } from '../errors.ts';
import { unavailable } from '../ports/capability.ts';
import type { ModuleSource, Program } from '../program.ts';
import { type Value as Plain, ZERO_VALUES } from '../values.ts';
import { blockContext } from './block-context.ts';
import type { Message } from './mailbox.ts';
import { moduleSettings, wiredExits } from './module-settings.ts';
import { type RunPhase, nextPhase } from './phase.ts';
import type { Run, RunOptions, RunOutcome } from './run.ts';
import { RunState, callEnded, describeError } from './run-state.ts';
import { callRecord } from './scope.ts';
import { INTERRUPTED, type TraceEntry } from './trace.ts';

/** Facts of the call, beside the components: `await call.info()`. */
const CALL_INFO = 'call.info';

/**
 * A scenario that is a module runs: see `startRun`. Its components are commands of the script; each one is an entry of
 * the trace. When the call ends, the command in progress throws `call_ended` inside, and the module has the time of a
 * `finally` branch left.
 */
export class ModuleRun implements Run {
  readonly program: Program;
  readonly finished: Promise<RunOutcome>;
  readonly #module: ModuleSource;
  readonly #args: Readonly<Record<string, Plain>>;
  readonly #state: RunState;
  readonly #memories = new Map<string, Map<string, Plain>>();
  /** Ends the script. */
  readonly #scriptControl = new AbortController();
  /** Ends the commands in progress. */
  #commandControl = new AbortController();
  #phase: RunPhase = 'main';
  #script: ScriptRun | undefined;
  #pending = 0;
  /** Settles the time during which the script works and no command does. */
  #working: (() => void) | undefined;

  constructor(program: Program, module: ModuleSource, options: RunOptions) {
    this.program = program;
    this.#module = module;
    this.#args = options.args ?? {};
    this.#state = new RunState(program, options);
    this.finished = this.#execute();
    this.#state.services.runs?.add(this);
  }

  get id(): string {
    return this.#state.id;
  }

  get domain(): string {
    return this.#state.domain;
  }

  get trace(): readonly TraceEntry[] {
    return this.#state.trace.entries();
  }

  get children(): readonly Run[] {
    return this.#state.children.runs;
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  stop(reason: string): void {
    if (this.#phase === 'main') {
      this.#state.interrupted('stopped', reason);
      this.#leave(new ScenarioError('stopped', reason));
    } else this.#scriptControl.abort(new ScenarioError('stopped', reason));
  }

  send(message: Message): boolean {
    if (this.#phase === 'finished') return false;
    this.#script?.emit({ type: 'message', name: message.name, data: message.data, from: message.from });
    this.#state.mailbox.deliver(message);
    return true;
  }

  async #execute(): Promise<RunOutcome> {
    // As for blocks: nothing happens before the caller has the run.
    await Promise.resolve();
    const unlisten = this.#state.onCallEnd((end) => this.#callEnded(end));
    try {
      this.#script = this.#start();
      this.#work();
      const { value } = await this.#script.finished;
      this.#state.returned(value);
    } catch (error) {
      const { code, message } = describeError(error);
      // What a module does not catch after the end of the call is how it ends.
      const over = this.#phase !== 'main' && ['call_ended', 'stopped', 'call_state', 'aborted'].includes(code);
      if (!over) this.#state.fail({ code, message, block: '' }, error);
    }
    unlisten();
    this.#rest();
    this.#commandControl.abort(new ScenarioError('over', 'the scenario is over'));
    this.#phase = 'finished';
    await this.#state.release();
    const usage = this.#script?.usage();
    return { ...this.#state.outcome(), ...(usage ? { usage } : {}) };
  }

  #start(): ScriptRun {
    const { services, trace, clock } = this.#state;
    if (!services.sandbox) throw unavailable('this node runs no scripts');
    return services.sandbox.start({
      source: this.#module.source,
      format: this.#module.format,
      kind: 'module',
      file: this.program.file,
      version: this.program.version,
      args: this.#args,
      commands: [...this.#module.methods.keys(), CALL_INFO],
      ...(services.scriptLimits ? { limits: services.scriptLimits } : {}),
      onCommand: (name, args, signal) => this.#command(name, args, signal),
      onLog: (level, text) => {
        const line = trace.begin({ branch: 'main', block: 'log', component: 'log', start: clock.now() });
        line.logged(`${level}: ${text}`);
        line.end(clock.now(), { exit: 'next' });
        this.#state.log[level]({ run: this.id, scenario: this.program.id, text }, 'scenario says');
      },
      signal: this.#scriptControl.signal,
    });
  }

  async #command(name: string, args: readonly Json[], scriptSignal: AbortSignal): Promise<unknown> {
    if (name === CALL_INFO) return callRecord(this.#state.call);
    const component = this.#module.methods.get(name);
    if (!component) throw new ScenarioError('internal', `there is no ${name}`);
    this.#pending += 1;
    this.#rest();
    try {
      return await this.#run(name, component, args, AbortSignal.any([scriptSignal, this.#commandControl.signal]));
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0 && this.#phase !== 'finished') this.#work();
    }
  }

  async #run(name: string, component: Component, args: readonly Json[], signal: AbortSignal): Promise<unknown> {
    const { clock, trace: runTrace } = this.#state;
    const branch = this.#phase === 'main' ? 'main' : 'finally';
    const trace = runTrace.begin({ branch, block: name, component: component.name, start: clock.now() });
    let early: Readonly<Record<string, Plain>> = {};
    try {
      signal.throwIfAborted();
      const settings = moduleSettings(component, args);
      if (!Value.Check(component.settings, settings)) throw wrongSetting(name, component, settings);
      const context = blockContext(this.#state, {
        component: component.name,
        exits: wiredExits(component, args),
        trace,
        signal,
        memory: this.#memoryOf(name),
        result: (fields) => {
          early = fields;
          trace.result(fields);
        },
      });
      const { exit, fields } = await component.run(context, settings);
      trace.end(clock.now(), { exit, ...(fields ? { result: fields } : {}) });
      return { exit, ...zeroFields(component), ...early, ...fields };
    } catch (error) {
      const { code, message } = describeError(signal.aborted ? signal.reason : error);
      trace.end(clock.now(), signal.aborted ? { exit: INTERRUPTED } : { exit: 'error', error: { code, message } });
      throw new ScenarioError(code, message, { cause: error });
    }
  }

  #memoryOf(name: string): Map<string, Plain> {
    const memory = this.#memories.get(name) ?? new Map<string, Plain>();
    this.#memories.set(name, memory);
    return memory;
  }

  #callEnded(end: CallEnd): void {
    this.#state.interrupted('ended', `${end.by}: ${end.reason}`);
    this.#leave(callEnded(end));
  }

  /** Ends the commands in progress; the module may clean up for a while. */
  #leave(reason: ScenarioError): void {
    if (this.#phase !== 'main') return;
    this.#phase = nextPhase(nextPhase(this.#phase, 'interrupt', true), 'branch_done', true);
    this.#commandControl.abort(reason);
    this.#commandControl = new AbortController();
    const { clock, limits } = this.#state;
    const tooLong = new ScenarioError('time_limit', `the module went on for more than ${limits.finallyMs} ms`);
    clock.sleep(limits.finallyMs, this.#scriptControl.signal).then(
      () => this.#scriptControl.abort(tooLong),
      () => undefined,
    );
    void Promise.allSettled([this.#script?.finished]).then(() => this.#scriptControl.abort(reason));
  }

  /** A clock that does not move by itself stands still while the script works. */
  #work(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#working = resolve;
    void this.#state.clock.busy?.(promise);
  }

  #rest(): void {
    this.#working?.();
    this.#working = undefined;
  }
}

function zeroFields({ results }: Component): Record<string, Plain> {
  return Object.fromEntries(Object.entries(results).map(([name, { type }]) => [name, ZERO_VALUES[type]]));
}

function wrongSetting(name: string, { settings: schema }: Component, settings: unknown): ScenarioError {
  const [problem] = Value.Errors(schema, settings);
  const where = problem?.instancePath.replace(/^\//, '') ?? '';
  return new ScenarioError('setting', `${name}: the setting ${where} ${problem?.message ?? 'is not allowed'}`);
}
