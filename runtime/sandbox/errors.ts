/** Errors of script runs. */
import { type LimitName, limitText } from './limits.ts';
import { placesOf } from './stack.ts';

/** Codes of the sandbox itself. Codes of errors made in the isolate are in worker/inside.js. */
export type SandboxErrorCode =
  | 'aborted'
  | 'cancelled'
  | 'compile'
  | 'debugger_not_allowed'
  | 'limit'
  | 'no_secret'
  | 'not_plain'
  | 'sandbox_lost'
  | 'script'
  | 'stalled';

declare const BY_AUTHOR: unique symbol;

/** A code that an author has chosen. It may be any text. */
export type AuthorCode = string & { readonly [BY_AUTHOR]: true };

/** All failures of a script run. `code` is stable; scenarios see it as `error.code`. */
export abstract class SandboxError extends Error {
  abstract readonly code: SandboxErrorCode | AuthorCode;
}

/** The script threw. `code` is that of the thrown error, `script` without one. */
export class ScriptError extends SandboxError {
  override readonly name = 'ScriptError';
  readonly code: SandboxErrorCode | AuthorCode;
  /** Stack within the script, with lines of its source. */
  readonly scriptStack: string;
  constructor(code: SandboxErrorCode | AuthorCode, message: string, scriptStack: string) {
    super(message);
    this.code = code;
    this.scriptStack = scriptStack;
  }

  /** Stack frames within the script, innermost first: `helper (menu.ts:9:16)`, or `menu.ts:9:16`. */
  get places(): readonly string[] {
    return placesOf(this.scriptStack);
  }
}

/** The script exceeded a limit. */
export class LimitError extends SandboxError {
  override readonly name = 'LimitError';
  readonly code = 'limit' satisfies SandboxErrorCode;
  readonly limit: LimitName;
  readonly allowed: number;
  constructor(limit: LimitName, allowed: number) {
    super(`the script exceeded its limit ${limitText(limit, allowed)}`);
    this.limit = limit;
    this.allowed = allowed;
  }
}

/** The script's process died or became unreliable; the script itself may be innocent. */
export class SandboxLostError extends SandboxError {
  override readonly name = 'SandboxLostError';
  readonly code = 'sandbox_lost' satisfies SandboxErrorCode;
}

/** The run was ended by its owner's signal. */
export class ScriptAbortedError extends SandboxError {
  override readonly name = 'ScriptAbortedError';
  readonly code = 'aborted' satisfies SandboxErrorCode;
}

/** A run was started for a debugger, and the operator allows none. */
export class DebuggerNotAllowedError extends SandboxError {
  override readonly name = 'DebuggerNotAllowedError';
  readonly code = 'debugger_not_allowed' satisfies SandboxErrorCode;
}

/** The source does not compile. */
export class ScriptCompileError extends SandboxError {
  override readonly name = 'ScriptCompileError';
  readonly code = 'compile' satisfies SandboxErrorCode;
  readonly problems: readonly ScriptProblem[];
  constructor(problems: readonly ScriptProblem[]) {
    super(
      problems
        .map(
          ({ file, line, column, message }) => `${file === undefined ? '' : `${file}:`}${line}:${column}: ${message}`,
        )
        .join('\n'),
    );
    this.problems = problems;
  }
}

/** A mistake in a source; line and column count from 1. */
export interface ScriptProblem {
  /** The imported module with the mistake; undefined: the script itself. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}
