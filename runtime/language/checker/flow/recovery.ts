import { type AnyNode, parse } from 'acorn';
import type { CompileResult, ScriptKind, ScriptProblem, ScriptSource } from '../../../sandbox/index.ts';
import { childrenOf } from '../module/walk.ts';

/** Lines that are looked past. */
const MAX_BROKEN = 5;

/** A script without the lines that hold mistakes of syntax. */
export interface Recovered {
  /** One for each of these lines. */
  readonly problems: readonly ScriptProblem[];
  /** What is left, without types, everything where the author wrote it. */
  readonly code: string;
  /** Whether what is said of a character of the code may come of what was left out. */
  readonly hides: (offset: number) => boolean;
}

/**
 * Looks past mistakes of syntax for further ones: leaves out the line of each, as long as what is left can be one of its own.
 * @param found the first mistake
 * @returns undefined when a line cannot be left out, or others only seem to be wrong because of it
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
    // Where a line is wrong from its beginning, the one above may be.
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

/** Statements of which a part cannot be left out, or whose inside means something by them only. */
const HEADS = /\b(?:function|switch|class|for|while|do|catch|finally|try|case|default|import|interface|enum|type)\b|=>/;
/** Behind these a statement goes on in the next line. */
const GOES_ON = /[-+*/%=&|?<>.^!~]$/;
/** And with these it comes from the line before. */
const CAME_ON = /^[-+*/%=&|?:<>.,^]/;

/** The nearest line above that holds something. */
function above(lines: readonly string[], index: number): string {
  const line = lines.slice(0, index).findLast(isText) ?? '';
  return line.replace(/\s*\/\/.*$/, '').trim();
}

/** Whether what a line begins, or belongs to, neither begins above it nor ends below. */
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
 * The brackets that a line opens and closes for others, as wide as the line; undefined when they mean more than a block.
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
  // It begins and ends here: its brackets are the very mistake.
  const isWhole = /;\s*$/.test(bare) && (before === '' || /[;{}]$/.test(before)) && !/[{}]/.test(left);
  const instead = left === '' || isWhole ? '' : left === '}' ? left : condition(bare, left);
  return instead === undefined || instead.length > line.length ? undefined : instead.padEnd(line.length);
}

/** A condition may be followed by `else`, and stays one. */
function condition(bare: string, left: string): string | undefined {
  if (left === '{' && /^\s*if\b.*\)\s*\{\s*$/.test(bare)) return 'if(0){';
  return left === '}{' && /^\s*\}\s*else\s+if\b.*\)\s*\{\s*$/.test(bare) ? '}else if(0){' : undefined;
}

const OPENS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Lines that declare names, and those of them that declare one that can be read. */
const DECLARES = /\b(?:const|let|var)\b/;
const DECLARES_ONE = /^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*(?::\s*[\w.<>[\] |]+)?=(?!=)[^;]*;?\s*$/;

/** Names of the lines that are left out may be declared there, and what a statement lacks may have been there. */
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
    // A name by itself, neither after a point nor of a setting, may be declared under another one.
    if (isUnsure && name !== undefined && colon === '' && code[offset - 1] !== '.') return true;
    return statements?.some(({ start, end }) => offset >= start && offset < end) ?? true;
  };
}

/** The statements around places of the code; undefined when it cannot be read. */
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
    // Something that only V8 can read, or nested very deep.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The innermost statement around a place that is no block of others. */
function statementAt(node: AnyNode, offset: number): AnyNode | undefined {
  for (const child of childrenOf(node)) {
    if (child.start > offset || child.end <= offset) continue;
    const inner = statementAt(child, offset);
    if (inner) return inner;
    if (/^(?:Expression|Return|Throw)Statement$|^(?:Variable|ExportNamed)Declaration$/.test(child.type)) return child;
  }
  return undefined;
}
