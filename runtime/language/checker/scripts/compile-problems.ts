import { nearest } from '../../../words/index.ts';
import type { CompileResult, ScriptProblem, ScriptSource } from '../../../sandbox/index.ts';

/** Compiler errors as problems for authors, with suggestions. */
export interface CompileProblem extends ScriptProblem {
  readonly suggestion?: string;
}

export const NO_DEFAULT = {
  message: 'the module exports no default function',
  suggestion: 'write export default async function (call, args) { ... }',
};

const LESS_DEEP = 'give parts of it to variables or functions of their own';

/** The source compiles, but is nested too deeply for the other checks. */
export const TOO_DEEP = {
  message: 'this is nested too deeply to be checked',
  /** Of a module. */
  unread: 'this is nested too deeply to be checked, and what it exports is not read',
  suggestion: LESS_DEEP,
};

/** Compiler messages with their meaning for authors. */
const WORDS: readonly (readonly [RegExp, Partial<Pick<CompileProblem, 'message' | 'suggestion'>>])[] = [
  [/does not provide an export named 'default'/, NO_DEFAULT],
  [
    /cannot be used outside of module code/,
    { message: 'a script block imports and exports nothing', suggestion: 'take it out, or write a module' },
  ],
  [
    /^Expected ';', '}' or <eof>$/,
    { message: 'this is not valid syntax here', suggestion: 'look at what stands before it' },
  ],
  [
    /^the source is nested too deeply$|^Maximum call stack size exceeded$/,
    { message: 'the source is nested too deeply', suggestion: LESS_DEEP },
  ],
  [
    /enum is not supported/,
    { message: 'there is no enum here', suggestion: "write const NAME = { A: 'a' } as const, or a type" },
  ],
  [
    /parameter property is not supported/,
    { message: 'there are no parameter properties here', suggestion: 'declare the field, and assign it' },
  ],
  [
    /namespace declaration is not supported/,
    { message: 'there are no namespaces here', suggestion: 'write an object, or functions' },
  ],
  [
    /type assertion is not supported/,
    { message: 'types are not written as <T>value here', suggestion: 'write value as T' },
  ],
];

/**
 * The problems of a source that does not compile.
 * @param compile tests whether the source compiles as TypeScript
 */
export async function compileProblems(
  source: ScriptSource,
  found: readonly ScriptProblem[],
  compile: (source: ScriptSource) => Promise<CompileResult>,
): Promise<readonly CompileProblem[]> {
  if (found.length === 0) return [];
  const isTypeScript = source.format === 'js' && (await compile({ ...source, format: 'ts' })).code !== undefined;
  return found.map((problem) => {
    const end = endOf(source.source);
    const isBehind = problem.line > end.line || (problem.line === end.line && problem.column > end.column);
    if (isBehind || /(token `|got ')<eof>/i.test(problem.message))
      return {
        ...end,
        message: 'the brackets do not match',
        suggestion: 'one of {, (, [ is not closed, or closed twice',
      };
    const meant = misspeltKeyword(source.source, problem);
    if (meant) return { ...problem, ...meant };
    const [, words] = WORDS.find(([pattern]) => pattern.test(problem.message)) ?? [];
    if (words) return { ...problem, ...words };
    return isTypeScript ? { ...problem, suggestion: inTypeScript(source) } : problem;
  });
}

/** Words that begin a statement, or stand before an expression (ECMA-262, 12.7.2). */
export const KEYWORDS: readonly string[] =
  'async await break case catch class const continue default delete else export extends finally for function if import instanceof let new return static switch throw try typeof while yield'.split(
    ' ',
  );

/** `retrun a;`: the parser reads a name, and stumbles at what follows it. */
function misspeltKeyword(
  text: string,
  { line, column }: ScriptProblem,
): Pick<CompileProblem, 'column' | 'message' | 'suggestion'> | undefined {
  const before = (text.split('\n')[line - 1] ?? '').slice(0, column - 1);
  const [, word = ''] = /(?<![\w.$])([A-Za-z]+)\s+$/.exec(before) ?? [];
  const meant = KEYWORDS.includes(word)
    ? undefined
    : nearest(
        word,
        KEYWORDS.filter((each) => each.length > 2),
      );
  if (word.length < 3 || meant === undefined) return undefined;
  const at = before.trimEnd().length - word.length + 1;
  return { column: at, message: `"${word}" is no word of JavaScript`, suggestion: `did you mean "${meant}"?` };
}

function inTypeScript({ kind }: ScriptSource): string {
  return kind === 'block' ? 'it is TypeScript: take out language: js' : 'it is TypeScript: name the file .ts';
}

/** The end of the last line that is not blank. */
function endOf(text: string): { readonly line: number; readonly column: number } {
  const lines = text.trimEnd().split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
