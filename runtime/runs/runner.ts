import type { ArmedRun } from './armed-runs.ts';
import type { CallPort } from './call-port.ts';
import { ArgumentError, type Program, runsScripts, type ScenarioSource, type Value } from '../language/index.ts';
import type { Log } from './log.ts';
import type { Debugging } from './ports/policy.ts';
import type { RunServices } from './ports/services.ts';
import type { Run, RunOptions } from './run/run.ts';
import type { RunOutcome } from './run/outcome.ts';
import { startRun } from './run/start-run.ts';
import { type Caller, type RunView, callerOf, shownValues, viewOf } from './run-view.ts';
import type { StartValues } from './start-values.ts';

/** Finished runs whose traces are kept. */
const KEPT_TRACES = 200;

/** How a scenario is started that nobody called. */
export interface StartOptions {
  readonly domain: string;
  readonly args: Readonly<Record<string, Value>>;
  /** Views of the run do not tell the arguments. */
  readonly unseen?: boolean;
}

/** Runs the scenarios of a library for calls, and keeps the traces of the latest runs. */
export class ScenarioRunner {
  readonly #library: Pick<ScenarioSource, 'program'>;
  readonly #log: Log;
  readonly #services: RunServices;
  readonly #live = new Map<string, { readonly run: Run; readonly caller: Caller }>();
  readonly #finished = new Map<string, RunView>();

  /** @param services what runs may use beside the call; scenarios are found in the library unless it says otherwise */
  constructor(library: Pick<ScenarioSource, 'program'>, log: Log, services: RunServices) {
    this.#library = library;
    this.#log = log;
    this.#services = { scenarios: (id, domain) => library.program(id, domain), ...services };
  }

  /** Runs in progress. */
  get running(): number {
    return this.#live.size;
  }

  /**
   * Starts the scenario of this code for a call, which is the scenario's from now on.
   * @returns false when there is no such scenario; the call is untouched
   */
  async serve(code: string, call: CallPort): Promise<boolean> {
    const program = await this.#library.program(code, call.domain);
    if (!program) return false;
    try {
      this.#begin(program, { call });
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      // A scenario with parameters that must be given is made to be started by another scenario or a request.
      this.#log.error({ scenario: code, callid: call.callid, err: error }, 'scenario cannot be called directly');
      await call.reject(500);
    }
    return true;
  }

  /** The scenario of this code in a domain, as it would be started now. */
  program(code: string, domain: string): Promise<Program | undefined> {
    return this.#library.program(code, domain);
  }

  /**
   * Starts a scenario for a call that somebody else placed; the call is the scenario's from now on.
   * @returns undefined when there is no such scenario; the call is untouched
   * @throws ArgumentError
   */
  async take(code: string, call: CallPort, { args, variables }: StartValues): Promise<Run | undefined> {
    const program = await this.#library.program(code, call.domain);
    return program && this.#begin(program, { call, args, variables });
  }

  /**
   * Starts a scenario that nobody called: it may `call` somebody itself.
   * @throws ArgumentError
   */
  start(program: Program, { domain, args, unseen = false }: StartOptions): Run {
    const call = this.#services.openCall(domain);
    return this.#begin(program, { domain, args, ...(call ? { call } : {}) }, unseen);
  }

  /**
   * Makes the next run of a scenario wait for a debugger.
   * @returns the port for debuggers, and until when; `not_allowed` unless the operator lets them in; `no_script`: there is
   *   nothing to stop at; undefined: no such scenario
   */
  async debug(
    code: string,
    domain: string,
    from: string,
  ): Promise<(ArmedRun & { readonly port: number }) | 'not_allowed' | 'no_script' | undefined> {
    const program = await this.#library.program(code, domain);
    if (!program) return undefined;
    if (!this.#debugging) return 'not_allowed';
    if (!runsScripts(program)) return 'no_script';
    const { armed, port } = this.#debugging;
    return { ...armed.arm(domain, program.id, from), port };
  }

  /** The scenarios of a domain whose next run waits for a debugger; those that are gone meanwhile are left out. */
  async debugged(domain: string): Promise<readonly ArmedRun[]> {
    await this.#debugging?.armed.prune(
      domain,
      async (code) => (await this.#library.program(code, domain)) !== undefined,
    );
    return this.#debugging?.armed.list(domain) ?? [];
  }

  /** Takes that back for one. @returns false when its next run was as any other */
  undebug(code: string, domain: string): boolean {
    return this.#debugging?.armed.disarm(domain, code) === true;
  }

  get #debugging(): Debugging | undefined {
    return this.#services.policy.debugging;
  }

  /** The run of this id, while it runs and as long as its trace is kept. */
  read(id: string): RunView | undefined {
    const live = this.#live.get(id);
    return live ? viewOf(live.run, live.caller) : this.#finished.get(id);
  }

  /** Runs in progress and the latest finished ones, oldest first. */
  runs(): readonly RunView[] {
    return [...this.#finished.values(), ...[...this.#live.values()].map(({ run, caller }) => viewOf(run, caller))];
  }

  /** Ends all runs; their `finally` branches still run. */
  async stop(reason: string): Promise<void> {
    const runs = [...this.#live.values()].map(({ run }) => run);
    for (const run of runs) run.stop(reason);
    await Promise.all(runs.map(({ finished }) => finished));
  }

  #begin(program: Program, options: Pick<RunOptions, 'call' | 'args' | 'variables' | 'domain'>, unseen = false): Run {
    const run = startRun(program, { ...options, log: this.#log, services: this.#services });
    const caller = { ...callerOf(options.call), ...(unseen ? {} : shownValues(options)) };
    const { callid } = caller;
    this.#live.set(run.id, { run, caller });
    void run.finished.then((outcome) => this.#keep(run, caller, outcome));
    this.#log.info({ run: run.id, scenario: program.id, version: program.version, callid }, 'scenario started');
    return run;
  }

  #keep(run: Run, caller: Caller, outcome: RunOutcome): void {
    this.#live.delete(run.id);
    this.#finished.set(run.id, viewOf(run, caller));
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > KEPT_TRACES && oldest !== undefined) this.#finished.delete(oldest);
    const { status, steps, milliseconds, error } = outcome;
    this.#log.info(
      {
        run: run.id,
        scenario: run.program.id,
        callid: caller.callid,
        status,
        steps,
        milliseconds,
        ...(error ? { error } : {}),
      },
      'scenario ended',
    );
  }
}
