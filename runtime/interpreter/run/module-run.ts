import type { Json, ScriptRun } from '../../sandbox/index.ts';
import type { CallEnd } from '../call-port.ts';
import type { Component } from '../component.ts';
import { ScenarioError } from '../errors.ts';
import { scriptLimits } from '../limits.ts';
import { unavailable } from '../ports/capability.ts';
import { isWatched } from '../ports/watching.ts';
import type { ModuleSource, Program } from '../program.ts';
import { type Value as Plain, ZERO_VALUES } from '../values.ts';
import { BaseRun, checkSettings } from './base-run.ts';
import type { Message } from './mailbox.ts';
import { moduleSettings, wiredExits } from './module-settings.ts';
import type { RunOptions, RunOutcome } from './run.ts';
import { callEnded, describeError } from './run-state.ts';
import { boundArguments, callRecord } from './scope.ts';
import { INTERRUPTED } from './trace.ts';

/** Facts of the call, beside the components: `await call.info()`. */
const CALL_INFO = 'call.info';

/**
 * A scenario that is a module runs: see `startRun`. Its components are commands of the script; each one is an entry of
 * the trace. When the call ends, the command in progress throws `call_ended` inside, and the module has the time of a
 * `finally` branch left.
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
  /** Settles the time during which the script works and no command does. */
  #working: (() => void) | undefined;

  constructor(program: Program, module: ModuleSource, options: RunOptions) {
    super(program, options);
    this.#module = module;
    this.#args = module.declaresParameters ? boundArguments(program, options.args ?? {}) : (options.args ?? {});
    this.begin(() => this.#execute());
  }

  stop(reason: string): void {
    if (this.phase === 'main') {
      this.state.interrupted('stopped', reason);
      this.#leave(new ScenarioError('stopped', reason));
    } else this.#scriptControl.abort(new ScenarioError('stopped', reason));
  }

  send(message: Message): boolean {
    if (this.phase === 'finished') return false;
    this.#script?.emit({ type: 'message', name: message.name, data: message.data, from: message.from });
    this.state.mailbox.deliver(message);
    return true;
  }

  async #execute(): Promise<RunOutcome> {
    const unlisten = this.state.onCallEnd((end) => this.#callEnded(end));
    const unwatch = this.#watch();
    try {
      this.#script = this.#start();
      this.#work();
      const { value } = await this.#script.finished;
      this.state.returned(value);
    } catch (error) {
      const { code, message } = describeError(error);
      // What a module does not catch after the end of the call is how it ends.
      const over = this.phase !== 'main' && ['call_ended', 'stopped', 'call_state', 'aborted'].includes(code);
      if (!over) this.state.fail({ code, message, block: '' }, error);
    }
    unlisten();
    unwatch();
    this.#rest();
    this.#commandControl.abort(new ScenarioError('over', 'the scenario is over'));
    this.advance('branch_done', false);
    await this.state.release();
    const usage = this.#script?.usage();
    return { ...this.state.outcome(), ...(usage ? { usage } : {}) };
  }

  /** What the other party does by itself reaches `events.on('dtmf' | 'hold' | 'unhold' | 'sip', ...)`. */
  #watch(): () => void {
    const { call } = this.state;
    if (!call || !isWatched(call)) return () => undefined;
    return call.watch(({ kind, ...data }) => {
      this.#script?.emit({ type: kind, ...data });
      // A key that the script listens for is used up; else it stays for whatever listens for keys next.
      return kind === 'dtmf' && this.#script?.listensForKeys === true;
    });
  }

  #start(): ScriptRun {
    const { services, trace, clock } = this.state;
    if (!services.sandbox) throw unavailable('this node runs no scripts');
    return services.sandbox.start({
      source: this.#module.source,
      format: this.#module.format,
      kind: 'module',
      file: this.state.scriptUrl,
      debug: this.state.debug,
      title: `${this.program.id}, run ${this.id}`,
      version: this.program.version,
      args: this.#args,
      commands: [...this.#module.methods.keys(), CALL_INFO],
      secrets: this.state.secrets.placeholders,
      limits: scriptLimits(this.state.allowed),
      onCommand: (name, args, signal) => this.#command(name, args, signal),
      ...(clock.busy ? { onWork: (work: Promise<void>) => void clock.busy?.(work) } : {}),
      onLog: (level, text) => {
        const line = trace.begin({ branch: 'main', block: 'log', component: 'log', start: clock.now() });
        line.logged(`${level}: ${text}`);
        line.end(clock.now(), { exit: 'next' });
        this.state.log[level]({ run: this.id, scenario: this.program.id, text }, 'scenario says');
      },
      signal: this.#scriptControl.signal,
    });
  }

  async #command(name: string, args: readonly Json[], scriptSignal: AbortSignal): Promise<unknown> {
    if (name === CALL_INFO) return callRecord(this.state.call);
    const component = this.#module.methods.get(name);
    if (!component) throw new ScenarioError('internal', `there is no ${name}`);
    this.#pending += 1;
    this.#rest();
    try {
      return await this.#run(name, component, args, AbortSignal.any([scriptSignal, this.#commandControl.signal]));
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0 && this.phase !== 'finished') this.#work();
    }
  }

  async #run(name: string, component: Component, args: readonly Json[], signal: AbortSignal): Promise<unknown> {
    const { clock, trace: runTrace } = this.state;
    const branch = this.phase === 'main' ? 'main' : 'finally';
    const trace = runTrace.begin({ branch, block: name, component: component.name, start: clock.now() });
    let early: Readonly<Record<string, Plain>> = {};
    try {
      signal.throwIfAborted();
      const { settings, leg } = moduleSettings(component, args);
      checkSettings(name, component, settings);
      const { exit, fields } = await this.perform(component, settings, {
        name,
        leg,
        exits: wiredExits(component, args),
        trace,
        signal,
        result: (known) => {
          early = known;
          trace.result(known);
        },
      });
      trace.end(clock.now(), { exit, ...(fields ? { result: fields } : {}) });
      return { exit, ...zeroFields(component), ...early, ...fields };
    } catch (error) {
      const { code, message } = describeError(signal.aborted ? signal.reason : error);
      trace.end(clock.now(), signal.aborted ? { exit: INTERRUPTED } : { exit: 'error', error: { code, message } });
      throw new ScenarioError(code, message, { cause: error });
    }
  }

  #callEnded(end: CallEnd): void {
    this.state.interrupted('ended', `${end.by}: ${end.reason}`);
    this.#leave(callEnded(end));
  }

  /** Ends the commands in progress; the module may clean up for a while. */
  #leave(reason: ScenarioError): void {
    if (this.phase !== 'main') return;
    this.advance('interrupt', true);
    this.advance('branch_done', true);
    this.#commandControl.abort(reason);
    this.#commandControl = new AbortController();
    const { clock, limits } = this.state;
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
    void this.state.clock.busy?.(promise);
  }

  #rest(): void {
    this.#working?.();
    this.#working = undefined;
  }
}

function zeroFields({ results }: Component): Record<string, Plain> {
  return Object.fromEntries(Object.entries(results).map(([name, { type }]) => [name, ZERO_VALUES[type]]));
}
