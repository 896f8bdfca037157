/** Scenarios started by a run. */
import type { DomainName } from '../../domain-name/index.ts';
import type { CallPort } from '../call-port.ts';
import type { Clock } from '../clock.ts';
import { ArgumentError, type Program, ScenarioError, type Value } from '../../language/index.ts';
import type { Log } from '../log.ts';
import { unavailable } from '../ports/capability.ts';
import type { RunServices } from '../ports/services.ts';
import type { Family } from './family.ts';
import type { Run, RunOptions } from './run.ts';

/** Limit of the depth of scenarios that call each other. */
const MAX_DEPTH = 16;
/** Limit of concurrent scenarios of one run. */
const MAX_LIVE = 100;
/** Number of finished ones kept for `await_run` and the trace. */
const MAX_FINISHED = 50;

export interface ChildStart {
  readonly scenario: string;
  readonly args: Readonly<Record<string, Value>>;
  /** Runs beside this run with a call of its own, instead of in its place with its call. */
  readonly parallel: boolean;
  /** Continues after the end of this run. */
  readonly keep: boolean;
  /** The borrowed call, in place of this run's; it stays up at the end. */
  readonly call?: CallPort;
}

export interface ChildContext {
  readonly family: Family;
  readonly services: RunServices;
  readonly call: CallPort | undefined;
  readonly domain: DomainName;
  /** The present language of the run. */
  readonly language: () => string;
  readonly depth: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly report: RunOptions['report'];
}

/** The scenarios started by a run. */
export class Children {
  readonly #context: ChildContext;
  readonly #runs = new Map<string, Pick<ChildStart, 'keep' | 'parallel'> & { readonly run: Run }>();

  constructor(context: ChildContext) {
    this.#context = context;
  }

  get runs(): readonly Run[] {
    return [...this.#runs.values()].map(({ run }) => run);
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id)?.run;
  }

  /** @throws ScenarioError codes `no_such_scenario`, `unavailable` */
  async find(scenario: string): Promise<Program> {
    const { services } = this.#context;
    if (!services.scenarios) throw unavailable('scenarios cannot be started here');
    const program = await services.scenarios(scenario, this.#context.domain, this.#context.call?.opponent?.number);
    if (!program) throw new ScenarioError('no_such_scenario', `there is no scenario "${scenario}"`);
    return program;
  }

  /**
   * @throws ScenarioError codes `no_such_scenario`, `argument`, `too_deep`, `too_many`, `unavailable`
   */
  async start({ scenario, args, parallel, keep, call: given }: ChildStart): Promise<Run> {
    const { family, services, domain, depth } = this.#context;
    if (depth >= MAX_DEPTH) throw new ScenarioError('too_deep', `scenarios call each other ${MAX_DEPTH} levels deep`);
    this.#forget();
    const program = await this.find(scenario);
    family.expectRoom();
    const call = parallel ? services.openCall(domain) : (given ?? this.#context.call);
    try {
      const options = { ...this.#options(), args, ...(call ? { call } : {}) };
      const run = family.start(program, options, { depth: depth + 1, borrowedCall: !parallel });
      this.#runs.set(run.id, { run, keep, parallel });
      return run;
    } catch (error) {
      if (error instanceof ArgumentError)
        throw new ScenarioError('argument', `${scenario}: ${error.message}`, { cause: error });
      throw error;
    }
  }

  /** @throws ScenarioError code `too_many` */
  #forget(): void {
    const finished = [...this.#runs].filter(([, { run }]) => run.phase === 'finished').map(([id]) => id);
    for (const id of finished.slice(0, Math.max(0, finished.length - MAX_FINISHED))) this.#runs.delete(id);
    if (this.#runs.size - finished.length >= MAX_LIVE)
      throw new ScenarioError('too_many', `${MAX_LIVE} scenarios of this run are in progress`);
  }

  /** Ends those started without `keep`. */
  stop(): void {
    for (const { run, keep } of this.#runs.values()) if (!keep) run.stop('the scenario that started it is over');
  }

  /** Ends those that run as functions. */
  stopCalled(reason: string): void {
    for (const { run, parallel } of this.#runs.values()) if (!parallel) run.stop(reason);
  }

  #options(): RunOptions {
    const { services, domain, language, log, clock, report } = this.#context;
    return { services, domain, language: language(), log, clock, ...(report ? { report } : {}) };
  }
}
