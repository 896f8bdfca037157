/** Errors of runs, and those that scripts get. */
import { type SandboxError, SandboxLostError, ScriptCompileError, ScriptError } from '../errors.ts';
import { NotPlainError } from '../json.ts';
import type { Failure } from '../messages.ts';
import { ownLines } from '../stack.ts';

export function errorOf(failure: Exclude<Failure, { kind: 'limit' }>): SandboxError {
  if (failure.kind === 'compile') return new ScriptCompileError(failure.problems);
  if (failure.kind === 'threw') return new ScriptError('script', failure.message, ownLines(failure.stack));
  return new SandboxLostError(failure.message);
}

/** Code and message that the script gets for a host error; details only if they are meant for authors. */
export function describe(name: string, error: unknown): { code: string; message: string } {
  if (error instanceof NotPlainError) return { code: 'not_plain', message: `the answer to ${name}: ${error.message}` };
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return { code: error.code, message: error.message };
  }
  return { code: 'internal', message: `${name} failed` };
}
