import type { ErrorCode, InternalCode } from './error-codes.ts';
import type { Problem } from './problem.ts';
import { formatProblem } from './problem.ts';
import type { Value } from './values.ts';

/**
 * An error that a running scenario can handle: a block that throws it takes its `error` exit, with `error.code` and
 * `error.message`.
 */
export class ScenarioError extends Error {
  override readonly name: string = 'ScenarioError';
  readonly code: ErrorCode;
  /** Structured facts beside the message, e.g. the wrong field. */
  readonly details: Readonly<Record<string, Value>> | undefined;
  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { readonly details?: Readonly<Record<string, Value>> },
  ) {
    super(message, options);
    this.code = code;
    this.details = options?.details;
  }
}

/** Code of the error by which an interrupt cuts a block short: the run goes on elsewhere, and keeps its call. */
export const INTERRUPT = 'interrupted' satisfies InternalCode;

/** An argument that does not fit the scenario's parameters. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string) {
    super(`parameter ${field}: ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/** A scenario that cannot run because its file has mistakes. */
export class InvalidScenarioError extends Error {
  override readonly name = 'InvalidScenarioError';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}
