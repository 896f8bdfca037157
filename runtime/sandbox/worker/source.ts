/** Prepares sources for V8. */
import { stripTypeScriptTypes } from 'node:module';
import type { ScriptProblem } from '../errors.ts';
import type { ScriptFormat, ScriptKind, ScriptModule } from '../sandbox.ts';

/** A source from the host. */
export interface Program {
  readonly source: string;
  readonly format: ScriptFormat;
  readonly kind: ScriptKind;
  readonly file: string;
  /** First line of the source within the file. */
  readonly line: number;
  /** What a module imports. */
  readonly modules?: readonly ScriptModule[] | undefined;
}

/** JavaScript for V8, with unchanged lines and columns. */
export interface Prepared {
  readonly code: string;
  /** Line of the file, from 0, of the code's start: our wrapper precedes the author's text. */
  readonly lineOffset: number;
  /** True for an invalid function body: if the wrapped code compiles, part of it is outside of the function. */
  readonly escapes: boolean;
}

/** The source has mistakes. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly problems: readonly ScriptProblem[];
  constructor(problems: readonly ScriptProblem[]) {
    super(problems[0]?.message ?? 'the source has mistakes');
    this.problems = problems;
  }
}

/** This process can no longer remove types from any source. */
export class CompilerExhaustedError extends Error {
  override readonly name = 'CompilerExhaustedError';
}

/** The wrapper of a block. */
const OPENING = '__scenario__(async function (vars, args) {\n';
const CLOSING = '\n});0';

const AsyncFunction = (async () => undefined).constructor as new (...texts: string[]) => unknown;

/** Largest source in characters: removing the types of a longer one would delay other scripts. */
export const MAX_SOURCE_LENGTH = 131_072;

/**
 * Wraps a block in a function and removes types.
 * @throws SourceError, CompilerExhaustedError
 */
export function prepareSource({ source, format, kind, line }: Program): Prepared {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw new SourceError([
      {
        line: 1,
        column: 1,
        message: `the script has ${source.length} characters; at most ${MAX_SOURCE_LENGTH} are allowed`,
      },
    ]);
  }
  // The wrapped block evaluates to 0, because only plain values may leave the isolate.
  const wrapped = kind === 'block' ? `${OPENING}${source}${CLOSING}` : source;
  const lineOffset = kind === 'block' ? line - 2 : line - 1;
  const code = format === 'ts' ? stripTypes(wrapped, lineOffset, line) : wrapped;
  const escapes = kind === 'block' && !isFunctionBody(code.slice(OPENING.length, -CLOSING.length), line);
  return { code, lineOffset, escapes };
}

/** The source without types. @throws SourceError, CompilerExhaustedError */
export function plainSource(program: Program): string {
  const { code } = prepareSource(program);
  return program.kind === 'block' ? code.slice(OPENING.length, -CLOSING.length) : code;
}

/** Parses a function body (ECMA-262, CreateDynamicFunction) without running it. @throws SourceError */
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

/** Error code of Node.js for an invalid source. */
const MISTAKES: ReadonlySet<unknown> = new Set(['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']);
let exhausted = false;
let onExhausted = (): void => undefined;

/** @param told called once, when this process can no longer remove types */
export function onCompilerExhausted(told: () => void): void {
  onExhausted = told;
}

/**
 * Strip mode replaces types by blanks, which keeps positions.
 * @throws SourceError, CompilerExhaustedError
 */
function stripTypes(source: string, lineOffset: number, line: number): string {
  if (exhausted) throw new CompilerExhaustedError('this process can no longer remove types from sources');
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    if (MISTAKES.has((error as NodeJS.ErrnoException).code))
      throw new SourceError([typeProblem(error as Error, source, lineOffset)]);
    // Node.js's parser, compiled to WebAssembly, exhausted its stack, and never frees the used part.
    exhausted = true;
    onExhausted();
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

/** Node.js puts file, line, an excerpt and carets before the stack. */
function caretOf({ stack = '' }: Error): Caret | undefined {
  const match = /^[^\n]*:(\d+)\n(?:[^\n]*\n)+?( *)\^+\n/.exec(stack);
  return match ? { line: Number(match[1]), column: (match[2] ?? '').length + 1 } : undefined;
}

/**
 * Carets follow the width in a terminal, where tabs and Chinese characters are wider: such characters are replaced
 * before parsing again.
 */
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

/** Position in isolated-vm's syntax errors: `message [file:line:column]`. */
export function syntaxProblem(error: Error): ScriptProblem {
  const match = /^(.*) \[.*:(\d+):(\d+)\]$/s.exec(error.message);
  if (!match) return { line: 1, column: 1, message: error.message };
  return { line: Math.max(1, Number(match[2])), column: Math.max(1, Number(match[3])), message: match[1] ?? '' };
}

/** The mistakes that V8 found; every other error as it is. @param file the module with them; default: the script */
export function sourceError(error: unknown, file?: string): unknown {
  if (error instanceof SourceError) return file === undefined ? error : new SourceError(placedIn(error.problems, file));
  if (!(error instanceof SyntaxError || error instanceof RangeError)) return error;
  const problem = syntaxProblem(error);
  return new SourceError(file === undefined ? [problem] : placedIn([problem], file));
}

function placedIn(problems: readonly ScriptProblem[], file: string): readonly ScriptProblem[] {
  return problems.map((problem) => ({ file, ...problem }));
}
