/** Runs scenarios for calls and requests. */
import { asDomainName, type DomainName } from '../domain-name/index.ts';
import type { ArmedRun } from './armed-runs.ts';
import type { CallPort } from './call-port.ts';
import {
  ArgumentError,
  type Program,
  runsScripts,
  type ScenarioSnapshot,
  type ScenarioSource,
  type Value,
} from '../language/index.ts';
import type { Log } from './log.ts';
import { isKnownRecord } from '../sandbox/index.ts';
import { unavailable } from './ports/capability.ts';
import type { Debugging } from './ports/policy.ts';
import type { RunServices } from './ports/services.ts';
import type { Run, RunOptions } from './run/run.ts';
import type { RunOutcome } from './run/outcome.ts';
import { startRun } from './run/start-run.ts';
import { type Caller, type KeptRun, type RunView, callerOf, shownValues, viewOf } from './run-view.ts';
import type { StartValues } from './start-values.ts';

/** Number of finished runs with kept traces. */
const KEPT_TRACES = 200;

/** Options for a start without a call. */
export interface StartOptions {
  readonly domain: DomainName;
  readonly args: Readonly<Record<string, Value>>;
  /** Hides the arguments in views of the run, which ends with its node. */
  readonly unseen?: boolean;
}

interface LiveRun {
  readonly run: Run;
  readonly caller: Caller;
  /** Nobody may see its arguments. */
  readonly unseen: boolean;
}

/** A waiting run for other nodes; `kept` is undefined when it ends with its node. */
export interface SavingRun {
  readonly id: string;
  readonly kept: Promise<KeptRun | undefined>;
}

/** Called at the end of each run. It must not throw. */
export type RunObserver = (run: Run, outcome: RunOutcome, view: RunView) => void;

/** Runs the scenarios of a library, and keeps the traces of the latest runs. */
export class ScenarioRunner {
  readonly #library: Pick<ScenarioSource, 'program' | 'snapshot'>;
  readonly #log: Log;
  readonly #services: RunServices;
  readonly #onEnded: RunObserver | undefined;
  readonly #live = new Map<string, LiveRun>();
  readonly #finished = new Map<string, RunView>();

  /** @param services services for runs beside the call; what runs start comes from the library */
  constructor(
    library: Pick<ScenarioSource, 'program' | 'snapshot'>,
    log: Log,
    services: RunServices,
    onEnded?: RunObserver,
  ) {
    this.#onEnded = onEnded;
    this.#library = library;
    this.#log = log;
    this.#services = services;
  }

  /** Runs in progress. */
  get running(): number {
    return this.#live.size;
  }

  /** Runs in progress that have, or had, a call. */
  get withCalls(): number {
    let count = 0;
    for (const { run } of this.#live.values()) if (run.calls.some(({ state }) => state !== 'none')) count += 1;
    return count;
  }

  /**
   * Starts the scenario with this code for a call, which the scenario then owns.
   * @param language tag of the run's language; undefined: the scenario's or the domain's
   * @returns false for an unknown scenario; the call is then untouched
   */
  async serve(code: string, call: CallPort, language?: string): Promise<boolean> {
    const program = await this.#library.program(code, call.domain, { caller: call.opponent?.number });
    if (!program) return false;
    try {
      this.#begin(program, { call, language });
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      // Required parameters can only come from another scenario or a request.
      this.#log.error({ scenario: code, callid: call.callid, err: error }, 'scenario cannot be called directly');
      await call.reject(500);
    }
    return true;
  }

  /** The program of this code in a domain for a new run. */
  program(code: string, domain: DomainName): Promise<Program | undefined> {
    return this.#library.program(code, domain);
  }

  /**
   * Starts a scenario for a call placed elsewhere, which the scenario then owns.
   * @returns undefined for an unknown scenario; the call is then untouched
   * @throws ArgumentError
   */
  async take(code: string, call: CallPort, start: StartValues): Promise<Run | undefined> {
    return await this.#take(code, call, start);
  }

  /** @param known what the run may start, itself among it; default: the scenarios at its beginning */
  async #take(
    code: string,
    call: CallPort,
    { args, variables, sensitive, language }: StartValues,
    known?: ScenarioSnapshot,
  ): Promise<Run | undefined> {
    const program = await (known ?? this.#library).program(code, call.domain, { caller: call.opponent?.number });
    return program && this.#begin(program, { call, args, variables, sensitive, language }, { known });
  }

  /**
   * Starts a scenario without a call; it may place one by `call`.
   * @throws ArgumentError
   */
  start(program: Program, { domain, args, unseen = false }: StartOptions): Run {
    const call = this.#services.openCall(domain);
    return this.#begin(program, { domain, args, ...(call ? { call } : {}) }, { unseen });
  }

  /**
   * Makes the next run of a scenario wait for a debugger.
   * @returns the port for debuggers and the end of the wait; `not_allowed`: the operator does not allow debuggers;
   *   `no_script`: the scenario has no script; undefined: unknown scenario
   */
  async debug(
    code: string,
    domain: DomainName,
    callerNumber: string,
  ): Promise<(ArmedRun & { readonly port: number }) | 'not_allowed' | 'no_script' | undefined> {
    const program = await this.#library.program(code, domain);
    if (!program) return undefined;
    if (!this.#debugging) return 'not_allowed';
    if (!runsScripts(program)) return 'no_script';
    const { armed, port } = this.#debugging;
    return { ...armed.arm(domain, program.id, callerNumber), port };
  }

  /** The scenarios of a domain whose next run waits for a debugger, without deleted ones. */
  async debugged(domain: DomainName): Promise<readonly ArmedRun[]> {
    await this.#debugging?.armed.prune(
      domain,
      async (code) => (await this.#library.program(code, domain)) !== undefined,
    );
    return this.#debugging?.armed.list(domain) ?? [];
  }

  /** Disarms one scenario. @returns false when it was not armed */
  undebug(code: string, domain: DomainName): boolean {
    return this.#debugging?.armed.disarm(domain, code) === true;
  }

  get #debugging(): Debugging | undefined {
    return this.#services.policy.debugging;
  }

  /** The run of this id, until its trace is dropped. */
  read(id: string): RunView | undefined {
    const live = this.#live.get(id);
    return live ? viewOf(live.run, live.caller) : this.#finished.get(id);
  }

  /** Runs in progress and the latest finished ones, oldest first. */
  runs(): readonly RunView[] {
    return [...this.#finished.values(), ...[...this.#live.values()].map(({ run, caller }) => viewOf(run, caller))];
  }

  /** The runs of a domain in progress, oldest first. */
  inProgress(domain: DomainName): readonly RunView[] {
    const views: RunView[] = [];
    for (const { run, caller } of this.#live.values()) if (run.domain === domain) views.push(viewOf(run, caller));
    return views;
  }

  /**
   * The runs that wait without a call, and have waited so long, for another node to go on with.
   * @param isKept true for runs that are left out
   */
  save(waitedMs: number, isKept: (run: string) => boolean): readonly SavingRun[] {
    const saving: SavingRun[] = [];
    for (const { run, caller, unseen } of this.#live.values()) {
      const saved = unseen || isKept(run.id) ? undefined : run.save(waitedMs);
      if (saved !== undefined) saving.push({ id: run.id, kept: keptWith(caller, saved) });
    }
    return saving;
  }

  /**
   * Goes on with a waiting run of another node.
   * @returns false without the version of the scenario with which it began
   * @throws ScenarioError code `unavailable` for a record of another form
   */
  async resume({ run: saved, caller }: KeptRun): Promise<boolean> {
    const { id, args, scenario, version, hash, language } = saved;
    const domain = asDomainName(saved.domain);
    if (saved.module !== undefined && !isKnownRecord(saved.module.script))
      throw unavailable(`its record has the form ${saved.module.script.form}, which this node does not know`);
    for (const use of ['service', 'call'] as const) {
      const program = await this.#library.program(scenario, domain, { use });
      if (program === undefined || program.version !== version || program.hash !== hash) continue;
      const call = this.#services.openCall(domain);
      this.#begin(program, { id, domain, args, language, call, resume: saved }, { caller });
      return true;
    }
    return false;
  }

  /** Ends all runs; their `finally` branches still run. */
  async stop(reason: string): Promise<void> {
    const runs = [...this.#live.values()].map(({ run }) => run);
    for (const run of runs) run.stop(reason);
    await Promise.all(runs.map(({ finished }) => finished));
  }

  #begin(
    program: Program,
    options: Pick<RunOptions, 'id' | 'call' | 'args' | 'variables' | 'language' | 'domain' | 'sensitive' | 'resume'>,
    {
      unseen = false,
      known = this.#library.snapshot(),
      caller = { ...callerOf(options.call), ...(unseen ? {} : shownValues(options)) },
    }: { readonly unseen?: boolean; readonly known?: ScenarioSnapshot | undefined; readonly caller?: Caller } = {},
  ): Run {
    const services: RunServices = {
      ...this.#services,
      scenarios: (id, domain, number) => known.program(id, domain, { caller: number }),
      serve: (code, call, start) => this.#take(code, call, start, known),
    };
    const run = startRun(program, { ...options, log: this.#log, services });
    const { callid } = caller;
    this.#live.set(run.id, { run, caller, unseen });
    void run.finished.then((outcome) => this.#keep(run, caller, outcome));
    this.#log.info({ run: run.id, scenario: program.id, version: program.version, callid }, 'scenario started');
    return run;
  }

  #keep(run: Run, caller: Caller, outcome: RunOutcome): void {
    this.#live.delete(run.id);
    if (run.isTaken) return;
    const view = viewOf(run, caller);
    this.#finished.set(run.id, view);
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > KEPT_TRACES && oldest !== undefined) this.#finished.delete(oldest);
    this.#onEnded?.(run, outcome, view);
    const { status, steps, milliseconds, error } = view.outcome ?? outcome;
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

async function keptWith(caller: Caller, saving: ReturnType<Run['save']>): Promise<KeptRun | undefined> {
  const run = await saving;
  return run && { run, caller };
}
