import { stripTypeScriptTypes } from 'node:module';
import type { ScriptProblem } from '../errors.ts';
import type { ScriptFormat, ScriptKind } from '../sandbox.ts';

/** A source as the worker got it. */
export interface Program {
  readonly source: string;
  readonly format: ScriptFormat;
  readonly kind: ScriptKind;
  readonly file: string;
  /** The line of the file at which it begins. */
  readonly line: number;
}

/** JavaScript ready for V8, with every line and column where the author wrote it. */
export interface Prepared {
  readonly code: string;
  /** Line of the file, from 0, at which the code begins: our own text comes before the author's. */
  readonly lineOffset: number;
  /** It is no function body by itself: when it compiles all the same, some of it is outside of the function. */
  readonly escapes: boolean;
}

/** The source is not what it should be. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly problems: readonly ScriptProblem[];
  constructor(problems: readonly ScriptProblem[]) {
    super(problems[0]?.message ?? 'the source has mistakes');
    this.problems = problems;
  }
}

/** No types can be taken out of a source in this process any more, whatever source it is. */
export class WornError extends Error {
  override readonly name = 'WornError';
}

/** What stands around a block. */
const OPENING = '__scenario__(async function (vars, args) {\n';
const CLOSING = '\n});0';

const AsyncFunction = (async () => undefined).constructor as new (...texts: string[]) => unknown;

/** Longest source in characters: removing the types of a longer one would hold up other scripts. */
export const MAX_SOURCE_LENGTH = 131_072;

/**
 * Wraps a block into a function and removes types.
 * @throws SourceError, WornError
 */
export function prepareSource({ source, format, kind, line }: Program): Prepared {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw new SourceError([
      {
        line: 1,
        column: 1,
        message: `${source.length} characters are more than the ${MAX_SOURCE_LENGTH} a script may have`,
      },
    ]);
  }
  // The value of the wrapped block is 0, for nothing but plain values may leave the isolate.
  const wrapped = kind === 'block' ? `${OPENING}${source}${CLOSING}` : source;
  const lineOffset = kind === 'block' ? line - 2 : line - 1;
  const code = format === 'ts' ? stripTypes(wrapped, lineOffset, line) : wrapped;
  const escapes = kind === 'block' && !isFunctionBody(code.slice(OPENING.length, -CLOSING.length), line);
  return { code, lineOffset, escapes };
}

/** The source without types. @throws SourceError, WornError */
export function plainSource(program: Program): string {
  const { code } = prepareSource(program);
  return program.kind === 'block' ? code.slice(OPENING.length, -CLOSING.length) : code;
}

/** Parses a body by itself (ECMA-262, CreateDynamicFunction), and runs nothing. @throws SourceError */
function isFunctionBody(body: string, line: number): boolean {
  try {
    return typeof new AsyncFunction('vars', 'args', body) === 'function';
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(line);
    return false;
  }
}

function tooDeep(line: number): SourceError {
  return new SourceError([{ line, column: 1, message: 'the source is nested too deeply' }]);
}

/** How Node.js says that a source is at fault. */
const MISTAKES: ReadonlySet<unknown> = new Set(['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']);
let worn = false;
let onWorn = (): void => undefined;

/** @param told called once, when no types can be taken out of sources here any more */
export function whenWorn(told: () => void): void {
  onWorn = told;
}

/**
 * Strip mode replaces types by blanks, so that positions stay.
 * @throws SourceError, WornError
 */
function stripTypes(source: string, lineOffset: number, line: number): string {
  if (worn) throw new WornError('no types can be taken out of sources here any more');
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    if (MISTAKES.has((error as NodeJS.ErrnoException).code))
      throw new SourceError([typeProblem(error as Error, source, lineOffset)]);
    // The parser of Node.js, which is WebAssembly, came to the end of its stack, and never gives back what it had of it.
    worn = true;
    onWorn();
    throw tooDeep(line);
  }
}

function typeProblem(error: Error, source: string, lineOffset: number): ScriptProblem {
  const [message = ''] = error.message.split('\n');
  const told = caretOf(error);
  if (!told) return { line: 1, column: 1, message };
  const { line, column } = exactly(source, error.message) ?? told;
  return { line: line + lineOffset, column, message };
}

interface Caret {
  readonly line: number;
  readonly column: number;
}

/** Node puts file, line, some of the text, and carets below the mistake in front of the stack. */
function caretOf({ stack = '' }: Error): Caret | undefined {
  const match = /^[^\n]*:(\d+)\n(?:[^\n]*\n)+?( *)\^+\n/.exec(stack);
  return match ? { line: Number(match[1]), column: (match[2] ?? '').length + 1 } : undefined;
}

/** Carets stand below what a terminal shows, where a tab and a Chinese character are wider than others: asks without these. */
function exactly(source: string, message: string): Caret | undefined {
  const narrow = source.replaceAll(/[^\n\u0020-\u007e]/gu, (wide) =>
    (/\p{ID_Continue}/u.test(wide) ? 'x' : ' ').repeat(wide.length),
  );
  if (narrow === source) return undefined;
  try {
    stripTypeScriptTypes(narrow);
  } catch (error) {
    if ((error as Error).message === message) return caretOf(error as Error);
  }
  return undefined;
}

/** Where isolated-vm says a syntax error is: `message [file:line:column]`. */
export function syntaxProblem(error: Error): ScriptProblem {
  const match = /^(.*) \[.*:(\d+):(\d+)\]$/s.exec(error.message);
  if (!match) return { line: 1, column: 1, message: error.message };
  return { line: Math.max(1, Number(match[2])), column: Math.max(1, Number(match[3])), message: match[1] ?? '' };
}
