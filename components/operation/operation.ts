import { randomUUID } from 'node:crypto';
import type { CallPort } from '../../runtime/interpreter/call-port.ts';
import { type Clock, systemClock } from '../../runtime/interpreter/clock.ts';
import type { Report } from '../../runtime/interpreter/component.ts';
import type { Log } from '../../runtime/interpreter/log.ts';
import type { Program } from '../../runtime/interpreter/program.ts';
import { type Run, type RunOutcome, startRun } from '../../runtime/interpreter/run/run.ts';
import type { Value } from '../../runtime/interpreter/values.ts';
import { type OperationRecord, OperationRecords } from './record.ts';
import { type OperationResponse, type ResponseMode, afterReport, initialState, respond } from './response.ts';

/** What operations need of the rest of the node. */
export interface OperationServices {
  /** The service scenario of an operation, e.g. `invite`. */
  program(id: string): Promise<Program | undefined>;
  /** A fresh call for a scenario of this domain, state `none`. */
  openCall(domain: string): CallPort;
  readonly log: Log;
  readonly clock?: Clock;
}

/** On whose behalf an operation runs. */
export interface OperationContext {
  readonly domain: string;
}

/** An operation on its way. It goes on whether or not anybody still waits for the response. */
export interface OperationHandle {
  readonly id: string;
  /** Never rejects: a failure is a result. */
  readonly response: Promise<OperationResponse>;
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

export interface OperationStart {
  readonly operation: string;
  readonly scenario: string;
  readonly args: Readonly<Record<string, Value>>;
  readonly responseMode: ResponseMode;
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
  async start(
    { operation, scenario, args, responseMode }: OperationStart,
    { domain }: OperationContext,
  ): Promise<OperationHandle> {
    const program = await this.#services.program(scenario);
    if (!program) throw new MissingScenarioError(scenario);
    const id = randomUUID();
    const call = this.#services.openCall(domain);
    const now = this.#clock.now();
    this.#records.add({ id, domain, operation, response_mode: responseMode, startts: now, milestones: [] }, now);

    const responder = new Responder(call.callid, responseMode);
    const run = startRun(program, {
      id,
      call,
      args,
      log: this.#services.log,
      clock: this.#clock,
      report: (report) => {
        this.#note(id, report);
        responder.report(report);
      },
    });
    this.#running += 1;
    void responder.response.then((response) => this.#records.update(id, { response, responsets: this.#clock.now() }));
    const finished = run.finished.then((outcome) => this.#finish(id, outcome, responder));
    return { id, response: responder.response, finished, run };
  }

  #note(id: string, { milestone, at, callid, dialogid, answer }: Report): void {
    this.#records.milestone(id, {
      milestone,
      ts: at,
      ...(callid === undefined ? {} : { callid }),
      ...(dialogid === undefined ? {} : { dialogid }),
      ...(answer === undefined ? {} : { last_response: answer.line }),
    });
  }

  #finish(id: string, outcome: RunOutcome, responder: Responder): RunOutcome {
    this.#running -= 1;
    const { status, error, result } = outcome;
    this.#records.update(id, {
      endts: this.#clock.now(),
      outcome: status,
      fields: result,
      ...(error ? { error } : {}),
    });
    // A scenario that failed before it could report leaves nobody waiting.
    responder.report({ milestone: 'finished', at: this.#clock.now() });
    return outcome;
  }
}

/** Turns reports into the one response. */
class Responder {
  readonly #mode: ResponseMode;
  readonly #response = Promise.withResolvers<OperationResponse>();
  #state;

  constructor(ivrcallid: string, mode: ResponseMode) {
    this.#mode = mode;
    this.#state = initialState(ivrcallid);
  }

  get response(): Promise<OperationResponse> {
    return this.#response.promise;
  }

  report(report: Report): void {
    this.#state = afterReport(this.#state, report);
    const response = respond(this.#state, this.#mode);
    if (response) this.#response.resolve(response);
  }
}
