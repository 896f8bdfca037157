/** Recovers from syntax errors in scripts, so that one check finds more than the first mistake. */
import { type AnyNode, parse } from 'acorn';
import type { CompileResult, ScriptKind, ScriptProblem, ScriptSource } from '../../../sandbox/index.ts';
import { childrenOf } from '../module/walk.ts';

/** Limit of skipped lines. */
const MAX_BROKEN = 5;

/** A script without its lines with syntax errors. */
export interface Recovered {
  /** One for each skipped line. */
  readonly problems: readonly ScriptProblem[];
  /** The remaining code without types; every position is unchanged. */
  readonly code: string;
  /** True when a skipped line may be the cause of a problem at this character. */
  readonly hides: (offset: number) => boolean;
}

/**
 * Finds further syntax errors: skips the line of each one, as long as the rest can stand alone.
 * @param found the first mistake
 * @returns undefined when a line cannot be skipped, or when skipping it causes new errors
 */
export async function recover(
  source: ScriptSource,
  found: readonly ScriptProblem[],
  compile: (source: ScriptSource) => Promise<CompileResult>,
): Promise<Recovered | undefined> {
  const lines = source.source.split('\n');
  const problems: ScriptProblem[] = [];
  let [problem] = found;
  while (problem !== undefined && problems.length < MAX_BROKEN) {
    const index = problem.line - 1;
    const line = lines[index];
    // An error at the start of a line may belong to the line above.
    const isAbove = line === undefined || line.slice(0, problem.column - 1).trim() === '';
    const left = isAbove || !standsAlone(lines, index) ? undefined : withoutStatement(line, above(lines, index));
    if (left === undefined || problems.some((other) => other.line === index + 1)) return undefined;
    problems.push(problem);
    lines[index] = left;
    const result = await compile({ ...source, source: lines.join('\n') });
    if (result.ok) return { problems, code: result.code, hides: hiding(source, problems, result.code) };
    [problem] = result.problems;
  }
  return undefined;
}

/** Statements that cannot lose a line, or that give their body its meaning. */
const HEADS = /\b(?:function|switch|class|for|while|do|catch|finally|try|case|default|import|interface|enum|type)\b|=>/;
/** Line ends after which a statement continues in the next line. */
const GOES_ON = /[-+*/%=&|?<>.^!~]$/;
/** Line starts that continue the statement of the line before. */
const CAME_ON = /^[-+*/%=&|?:<>.,^]/;

/** The nearest line above that is not blank. */
function above(lines: readonly string[], index: number): string {
  const line = lines.slice(0, index).findLast(isText) ?? '';
  return line.replace(/\s*\/\/.*$/, '').trim();
}

/** True for a line that is a whole statement. */
function standsAlone(lines: readonly string[], index: number): boolean {
  const after =
    lines
      .slice(index + 1)
      .find(isText)
      ?.trim() ?? '';
  return !GOES_ON.test(above(lines, index)) && !CAME_ON.test(after);
}

function isText(line: string): boolean {
  return line.trim() !== '' && !line.trim().startsWith('//');
}

/**
 * The unbalanced brackets of a line, padded to its width; undefined when they are more than those of a block.
 * @param before the line above it
 */
function withoutStatement(line: string, before: string): string | undefined {
  const bare = line.replaceAll(/'[^']*'?|"[^"]*"?|`[^`]*`?|\/\/.*$/g, (text) => ' '.repeat(text.length));
  if (!/\w/.test(bare) || HEADS.test(bare) || /:\s*$|^\s*(?:const|let|var)\b.*,\s*$/.test(bare)) return undefined;
  const open: string[] = [];
  let closed = '';
  for (const [bracket] of bare.matchAll(/[()[\]{}]/g)) {
    if ('([{'.includes(bracket)) open.push(bracket);
    else if (open.at(-1) === OPENS[bracket]) open.pop();
    else closed += bracket;
  }
  const left = closed + open.join('');
  // The statement begins and ends here: its brackets are the mistake.
  const isWhole = /;\s*$/.test(bare) && (before === '' || /[;{}]$/.test(before)) && !/[{}]/.test(left);
  const instead = left === '' || isWhole ? '' : left === '}' ? left : condition(bare, left);
  return instead === undefined || instead.length > line.length ? undefined : instead.padEnd(line.length);
}

/** `if` keeps its condition: an `else` may follow. */
function condition(bare: string, left: string): string | undefined {
  if (left === '{' && /^\s*if\b.*\)\s*\{\s*$/.test(bare)) return 'if(0){';
  return left === '}{' && /^\s*\}\s*else\s+if\b.*\)\s*\{\s*$/.test(bare) ? '}else if(0){' : undefined;
}

const OPENS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Declaring lines, and those of them with a readable name. */
const DECLARES = /\b(?:const|let|var)\b/;
const DECLARES_ONE = /^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*(?::\s*[\w.<>[\] |]+)?=(?!=)[^;]*;?\s*$/;

/** Skipped lines may declare names, or contain the missing part of a statement. */
function hiding(source: ScriptSource, problems: readonly ScriptProblem[], code: string): (offset: number) => boolean {
  const lines = source.source.split('\n');
  const gone = problems.map(({ line }) => lines[line - 1] ?? '');
  const names = new Set(gone.flatMap((line) => line.match(/[A-Za-z_$][\w$]*/g) ?? []));
  const isUnsure = gone.some((line) => DECLARES.test(line) && !DECLARES_ONE.test(line));
  const starts = problems.map(({ line }) => lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0));
  const statements = statementsAt(code, source.kind, starts);
  return (offset) => {
    const [, name, colon] = /^([A-Za-z_$][\w$]*)\s*(:?)/.exec(code.slice(offset, offset + 100)) ?? [];
    if (name !== undefined && names.has(name)) return true;
    // A free-standing name, neither a property nor a key, may be declared in a skipped line under another name.
    if (isUnsure && name !== undefined && colon === '' && code[offset - 1] !== '.') return true;
    return statements?.some(({ start, end }) => offset >= start && offset < end) ?? true;
  };
}

/** The statements around places of the code; undefined when it cannot be parsed. */
function statementsAt(code: string, kind: ScriptKind, places: readonly number[]): readonly AnyNode[] | undefined {
  try {
    const tree = parse(code, {
      ecmaVersion: 'latest',
      sourceType: kind === 'module' ? 'module' : 'script',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
    return places.flatMap((place) => statementAt(tree, place) ?? []);
  } catch (error) {
    // Syntax that only V8 parses, or very deep nesting.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The innermost statement around a place, blocks left out. */
function statementAt(node: AnyNode, offset: number): AnyNode | undefined {
  for (const child of childrenOf(node)) {
    if (child.start > offset || child.end <= offset) continue;
    const inner = statementAt(child, offset);
    if (inner) return inner;
    if (/^(?:Expression|Return|Throw)Statement$|^(?:Variable|ExportNamed)Declaration$/.test(child.type)) return child;
  }
  return undefined;
}
