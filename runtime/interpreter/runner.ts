import type { CallPort } from './call-port.ts';
import { ArgumentError } from './errors.ts';
import type { ScenarioLibrary } from './library.ts';
import type { Log } from './log.ts';
import type { RunServices } from './ports/services.ts';
import { RunBook } from './run/run-book.ts';
import { type Run, type RunOutcome, startRun } from './run/run.ts';
import type { TraceEntry } from './run/trace.ts';

/** Finished runs whose traces are kept. */
const KEPT_TRACES = 200;

/** A run, live or finished, as its author looks at it. */
export interface RunView {
  readonly id: string;
  readonly scenario: string;
  readonly version: string;
  /** Call-ID of the scenario's own party. */
  readonly callid: string;
  readonly domain: string;
  readonly trace: readonly TraceEntry[];
  /** Absent while it runs. */
  readonly outcome?: RunOutcome;
  /** Scenarios that this one started. */
  readonly children?: readonly RunView[];
}

/** Runs the scenarios of a library for calls, and keeps the traces of the latest runs. */
export class ScenarioRunner {
  readonly #library: ScenarioLibrary;
  readonly #log: Log;
  readonly #services: RunServices;
  readonly #live = new Map<string, { readonly run: Run; readonly call: CallPort }>();
  readonly #finished = new Map<string, RunView>();

  /** @param services what runs may use beside the call; scenarios are found in the library unless it says otherwise */
  constructor(library: ScenarioLibrary, log: Log, services: RunServices = {}) {
    this.#library = library;
    this.#log = log;
    this.#services = { scenarios: (id) => library.program(id), runs: new RunBook(), ...services };
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
    const program = await this.#library.program(code);
    if (!program) return false;
    try {
      const run = startRun(program, { call, log: this.#log, services: this.#services });
      this.#live.set(run.id, { run, call });
      void run.finished.then((outcome) => this.#keep(run, call, outcome));
      this.#log.info(
        { run: run.id, scenario: code, version: program.version, callid: call.callid },
        'scenario started',
      );
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      // A scenario with parameters that must be given is made to be started by another scenario or a request.
      this.#log.error({ scenario: code, callid: call.callid, err: error }, 'scenario cannot be called directly');
      await call.reject(500);
    }
    return true;
  }

  /** The run of this id, while it runs and as long as its trace is kept. */
  read(id: string): RunView | undefined {
    const live = this.#live.get(id);
    return live ? view(live.run, live.call) : this.#finished.get(id);
  }

  /** Runs in progress and the latest finished ones, oldest first. */
  runs(): readonly RunView[] {
    return [...this.#finished.values(), ...[...this.#live.values()].map(({ run, call }) => view(run, call))];
  }

  /** Ends all runs; their `finally` branches still run. */
  async stop(reason: string): Promise<void> {
    const runs = [...this.#live.values()].map(({ run }) => run);
    for (const run of runs) run.stop(reason);
    await Promise.all(runs.map(({ finished }) => finished));
  }

  #keep(run: Run, call: CallPort, outcome: RunOutcome): void {
    this.#live.delete(run.id);
    this.#finished.set(run.id, { ...view(run, call), outcome });
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > KEPT_TRACES && oldest !== undefined) this.#finished.delete(oldest);
    const { status, steps, milliseconds, error } = outcome;
    this.#log.info(
      {
        run: run.id,
        scenario: run.program.id,
        callid: call.callid,
        status,
        steps,
        milliseconds,
        ...(error ? { error } : {}),
      },
      'scenario ended',
    );
  }
}

function view({ id, program, trace, domain, children }: Run, call: CallPort): RunView {
  const nested = children.map((child) => view(child, call));
  const { id: scenario, version } = program;
  const { callid } = call;
  return { id, scenario, version, domain, callid, trace, ...(nested.length === 0 ? {} : { children: nested }) };
}
