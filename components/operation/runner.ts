import { randomUUID } from 'node:crypto';
import type { CallPort } from '../../runtime/interpreter/call-port.ts';
import { type Clock, systemClock } from '../../runtime/interpreter/clock.ts';
import type { Report } from '../../runtime/interpreter/component.ts';
import type { Log } from '../../runtime/interpreter/log.ts';
import type { RunServices } from '../../runtime/interpreter/ports/services.ts';
import type { Program } from '../../runtime/interpreter/program.ts';
import type { Run, RunOutcome } from '../../runtime/interpreter/run/run.ts';
import { startRun } from '../../runtime/interpreter/run/start-run.ts';
import type { Value } from '../../runtime/interpreter/values.ts';
import type { OperationPlan } from './definition.ts';
import { problemOf } from './errors.ts';
import { type OperationRecord, OperationRecords } from './record.ts';

/** What operations need of the rest of the node. */
export interface OperationServices {
  /** The service scenario of an operation, e.g. `invite`. */
  program(id: string): Promise<Program | undefined>;
  /** A fresh call for a scenario of this domain, state `none`. */
  openCall(domain: string): CallPort;
  /** What the service scenarios may use beside the call. */
  readonly runServices?: RunServices;
  readonly log: Log;
  readonly clock?: Clock;
  /** Told how long milestones and answers took. */
  readonly observer?: OperationObserver;
}

/** Who keeps figures of operations; times are in seconds since the operation began. */
export interface OperationObserver {
  milestone(operation: string, milestone: string, seconds: number): void;
  /** @param result of the answer, `ok` where it has none */
  answered(operation: string, result: string, seconds: number): void;
  /** It was refused, or could not be done. @param code of the error */
  refused(operation: string, code: string): void;
}

/** An operation on its way. It goes on whether or not anybody still waits for the response. */
export interface OperationHandle {
  readonly id: string;
  /**
   * What the caller is answered. Where an operation has response modes a failure is a result, and it never rejects.
   * @throws OperationError when the dialog was gone or changed by the time the operation came to it
   */
  readonly response: Promise<Value>;
  readonly finished: Promise<RunOutcome>;
  readonly run: Run;
}

/** The node does not have the service scenario of an operation. */
export class MissingScenarioError extends Error {
  override readonly name = 'MissingScenarioError';
  constructor(id: string) {
    super(`the service scenario "${id}" is missing or has mistakes`);
  }
}

/** A service scenario ended without an answer to its caller: a fault in the scenario. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

export interface OperationStart {
  readonly operation: string;
  readonly scenario: string;
  readonly domain: string;
  readonly plan: OperationPlan;
}

/** Runs operations as service scenarios and keeps their records. */
export class OperationRunner {
  readonly #services: OperationServices;
  readonly #clock: Clock;
  readonly #records = new OperationRecords();
  #running = 0;

  constructor(services: OperationServices) {
    this.#services = services;
    this.#clock = services.clock ?? systemClock;
  }

  /** Operations whose scenario runs. */
  get running(): number {
    return this.#running;
  }

  /** The record of an operation of this domain, while it runs and for an hour afterwards. */
  read(domain: string, id: string): OperationRecord | undefined {
    const record = this.#records.read(id, this.#clock.now());
    return record?.domain.toLowerCase() === domain.toLowerCase() ? record : undefined;
  }

  /** @throws MissingScenarioError */
  async start({ operation, scenario, domain, plan }: OperationStart): Promise<OperationHandle> {
    const program = await this.#services.program(scenario);
    if (!program) throw new MissingScenarioError(scenario);
    const { runServices, log, observer } = this.#services;
    const id = randomUUID();
    const call = this.#services.openCall(domain);
    const now = this.#clock.now();
    const begun = performance.now();
    const mode = plan.responseMode;
    this.#records.add(
      {
        id,
        domain,
        operation,
        ...(mode === undefined ? {} : { response_mode: mode }),
        startts: now,
        milestones: [],
      },
      now,
    );
    const progress = plan.progress?.({ ivrcallid: call.callid });
    const response = Promise.withResolvers<Value>();
    const follow = (report: Report): void => {
      progress?.report(report);
      const answer = progress?.answer();
      if (answer) response.resolve(answer);
    };
    const run = startRun(program, {
      id,
      call,
      args: plan.args ?? {},
      log,
      clock: this.#clock,
      ...(runServices ? { services: runServices } : {}),
      report: (report) => {
        this.#note(id, report);
        observer?.milestone(operation, report.milestone, (performance.now() - begun) / 1000);
        follow(report);
      },
    });
    this.#running += 1;
    const finished = run.finished.then((outcome) => {
      this.#finish(id, outcome);
      // A scenario that failed before it could report leaves nobody waiting.
      if (progress) follow({ milestone: 'finished', at: this.#clock.now() });
      else if (outcome.value !== undefined) response.resolve(outcome.value);
      else response.reject(failureOf(operation, outcome));
      return outcome;
    });
    response.promise.then(
      (answer) => this.#records.update(id, { response: answer, responsets: this.#clock.now() }),
      // The caller has the error itself.
      () => undefined,
    );
    return { id, response: response.promise, finished, run };
  }

  #note(id: string, { milestone, at, callid, dialogid, answer }: Report): void {
    this.#records.milestone(id, {
      milestone,
      ts: at,
      ...(callid === undefined ? {} : { callid }),
      // Of a party that is still to be taken over there is no dialog yet.
      ...(dialogid === undefined || dialogid === '' ? {} : { dialogid }),
      ...(answer === undefined ? {} : { last_response: answer.line }),
    });
  }

  #finish(id: string, { status, error, result }: RunOutcome): void {
    this.#running -= 1;
    this.#records.update(id, {
      endts: this.#clock.now(),
      outcome: status,
      fields: result,
      ...(error ? { error } : {}),
    });
  }
}

function failureOf(operation: string, { status, error }: RunOutcome): Error {
  const problem = error && problemOf(error);
  return (
    problem ?? new NoAnswerError(`${operation}: the scenario ${status} without an answer: ${error?.message ?? ''}`)
  );
}
