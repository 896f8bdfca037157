/** Runs the scenarios of operations. */
import type { DomainName } from '../../domain-name/index.ts';
import {
  type Clock,
  type Log,
  type OwnCall,
  type Report,
  type Run,
  type RunOptions,
  type RunOutcome,
  type RunServices,
  type Sensitive,
  startRun,
  systemClock,
} from '../../runs/index.ts';
import { randomUUID } from 'node:crypto';
import type { Program, Value } from '../../language/index.ts';
import type { OperationPlan } from '../definition.ts';
import { tracing } from '../../tracing/index.ts';
import { problemOf } from '../errors.ts';
import { type OperationRecord, OperationRecords } from './record.ts';
import type { Scope } from '../request/target.ts';

/** What operations need from the rest of the node. */
export interface OperationServices {
  /** The service scenario of an operation, e.g. `invite`. */
  program(id: string): Promise<Program | undefined>;
  /** A fresh call for a scenario of this domain, state `none`. */
  openCall(domain: DomainName): OwnCall;
  /** What the service scenarios may use beside the call. */
  readonly runServices: RunServices;
  readonly log: Log;
  readonly clock?: Clock;
  /** Receives the times of milestones and answers. */
  readonly observer?: OperationObserver;
  /** The id of the call that led to a live dialog. */
  readonly inviteIdOf?: (dialogid: string) => string | undefined;
  /** Called at the end of each operation. */
  readonly onFinished?: (finished: FinishedOperation) => void;
}

/** A finished operation, in the form of the event `operation_finished`. */
export interface FinishedOperation {
  readonly record: OperationRecord;
  /** The last dialog that the operation named; empty if it named none. */
  readonly dialogid: string;
  readonly inviteid: string;
}

/** Keeps the metrics of operations. Times are in seconds since the operation began. */
export interface OperationObserver {
  milestone(operation: string, milestone: string, seconds: number): void;
  /** @param result of the answer, `ok` where it has none */
  answered(operation: string, result: string, seconds: number): void;
  /** The operation was refused, or failed. @param code of the error */
  refused(operation: string, code: string): void;
}

/** A running operation. It goes on even if its caller no longer waits for the response. */
export interface OperationHandle {
  readonly id: string;
  /**
   * The answer to the caller. With response modes a failure is a result, so it never rejects.
   * @throws OperationError when the dialog ended or changed before the operation reached it
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
  readonly domain: DomainName;
  readonly userId?: string | undefined;
  readonly plan: OperationPlan;
  readonly sensitive?: Sensitive | undefined;
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

  /** Number of operations whose scenario runs. */
  get running(): number {
    return this.#running;
  }

  /** A record that the scope sees, while the operation runs and for an hour afterwards. */
  read(scope: Scope, id: string): OperationRecord | undefined {
    return this.#records.read(scope, id, this.#clock.now());
  }

  /** All records that the scope sees, oldest first. */
  list(scope: Scope): readonly OperationRecord[] {
    return this.#records.list(scope, this.#clock.now());
  }

  /** @throws MissingScenarioError */
  async start({ operation, scenario, domain, userId, plan, sensitive }: OperationStart): Promise<OperationHandle> {
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
        ...(userId === undefined ? {} : { userid: userId }),
        operation,
        ...(mode === undefined ? {} : { response_mode: mode }),
        startts: now,
        milestones: [],
      },
      now,
    );
    const progress = plan.progress?.({ ivrcallid: call.callid });
    const response = Promise.withResolvers<Value>();
    let about = this.#callOf(plan.touches()[0]?.dialogid ?? '');
    let ended: RunOutcome | undefined;
    const conclude = (outcome: RunOutcome): void => {
      const conclusion = conclusionOf(outcome, progress?.final());
      this.#records.update(id, sensitive === undefined ? conclusion : sensitive.value(conclusion));
    };
    const follow = (report: Report): void => {
      progress?.report(report);
      const answer = progress?.answer();
      if (answer) response.resolve(answer);
    };
    const named = { operation: id, name: operation, domain };
    log.debug({ ...named, ...callField(about) }, 'operation began');
    const span = tracing()?.start(`operation ${operation}`, 'internal', {
      'ringmaster.operation.id': id,
      'ringmaster.domain': domain,
    });
    const options: RunOptions = {
      id,
      call,
      args: plan.args ?? {},
      log,
      clock: this.#clock,
      services: runServices,
      sensitive,
      report: (report) => {
        this.#note(id, report);
        observer?.milestone(operation, report.milestone, (performance.now() - begun) / 1000);
        const { dialogid = '' } = report;
        // A dialog that waits for a transfer has no invite id at its first report.
        const isNew = dialogid !== about.dialogid || about.inviteid === '';
        if (dialogid !== '' && isNew) about = this.#callOf(dialogid);
        const where = dialogid === '' ? {} : { dialogid };
        log.debug({ ...named, ...callField(about), ...where, milestone: report.milestone }, 'operation proceeds');
        follow(report);
        // A party's answer after the end of the scenario still belongs to the result.
        if (ended !== undefined) conclude(ended);
      },
    };
    const run = span === undefined ? startRun(program, options) : span.run(() => startRun(program, options));
    call.servedBy?.({ id, scenario, operation: true });
    this.#running += 1;
    const finished = run.finished.then((outcome) => {
      this.#running -= 1;
      ended = outcome;
      // A scenario that failed before its first report must not leave the caller waiting.
      if (progress) follow({ milestone: 'finished', at: this.#clock.now() });
      else if (outcome.value !== undefined) response.resolve(outcome.value);
      else response.reject(failureOf(operation, outcome));
      this.#records.update(id, { endts: this.#clock.now() });
      conclude(outcome);
      const record = this.#records.read({ domain }, id, this.#clock.now());
      if (record) this.#services.onFinished?.({ record, ...about });
      log.debug({ ...named, ...callField(about), status: outcome.status, result: record?.result }, 'operation ended');
      const failure = outcome.status === 'failed' ? (outcome.error?.message ?? '') : undefined;
      span?.end(failure === undefined ? undefined : run.sensitive.text(failure));
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
      // A party that is not taken over yet has no dialog.
      ...(dialogid === undefined || dialogid === '' ? {} : { dialogid }),
      ...(answer === undefined ? {} : { last_response: answer.line }),
    });
  }

  #callOf(dialogid: string): Pick<FinishedOperation, 'dialogid' | 'inviteid'> {
    return { dialogid, inviteid: this.#services.inviteIdOf?.(dialogid) ?? '' };
  }
}

/** The log's field of the call, once it is known. */
function callField({ inviteid }: Pick<FinishedOperation, 'inviteid'>): { readonly call?: string } {
  return inviteid === '' ? {} : { call: inviteid };
}

/**
 * The outcome of an operation, from the end of its scenario.
 * @param final the answer made from the milestones; undefined when the scenario's return value is the answer
 */
function conclusionOf(
  { status, error, value }: RunOutcome,
  final: Readonly<Record<string, Value>> | undefined,
): Pick<OperationRecord, 'outcome' | 'error' | 'result' | 'fields'> {
  const answer = final ?? returnedBy(value);
  const said = answer?.['result'] ?? 'ok';
  const isDone = status !== 'failed' && answer !== undefined;
  const result = typeof said !== 'string' || (said === 'ok' && !isDone) ? 'error' : said;
  return {
    outcome: status,
    ...(error ? { error } : {}),
    result,
    fields: { ...answer, ...(answer !== undefined && 'result' in answer && { result }) },
  };
}

function returnedBy(value: Value | undefined): Readonly<Record<string, Value>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of JSON, what is left is a record
  return value as Readonly<Record<string, Value>>;
}

function failureOf(operation: string, { status, error }: RunOutcome): Error {
  const problem = error && problemOf(error);
  return (
    problem ?? new NoAnswerError(`${operation}: the scenario ${status} without an answer: ${error?.message ?? ''}`)
  );
}
