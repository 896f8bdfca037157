import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { ScenarioError } from './errors.ts';
import { type Doubt, impossibleComparisons, type KnownValues, possibleValues } from './possible-values.ts';
import { nearest } from './nearest.ts';
import { suggestName } from './problem.ts';
import { CEL_TYPES, type Value, ValueError, type ValueType, fromCel } from './values.ts';

/**
 * Expressions of the scenario language: CEL (https://cel.dev), compiled and type-checked when the scenario is checked.
 * CEL has no loops and no side effects; what could still take long (backtracking regular expressions, comprehensions in
 * comprehensions) is refused, so that an expression can run without an isolate.
 */

/** The names an expression can use, with their values in CEL form. */
export type Scope = Record<string, unknown>;

/** The time, unless the scenario has something of its own by this name. */
export const NOW = 'now';

/** A mistake in an expression; `start` counts characters from its beginning. */
export interface ExpressionProblem {
  readonly start: number;
  readonly message: string;
  readonly suggestion?: string;
}

export interface Expression {
  readonly source: string;
  /** CEL type of the result, `dyn` when it is known at run time only. */
  readonly type: string;
  /** Variables the expression reads. */
  readonly names: ReadonlySet<string>;
  /** All that the result can be, where that is known. */
  readonly values?: readonly string[];
  /** @throws ScenarioError code `expression` */
  evaluate(scope: Scope): Value;
}

/** Declared names of a scenario: variables have a type, records (block results, `call`, `error`) have typed fields. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly records: ReadonlyMap<string, Readonly<Record<string, ValueType>>>;
  /** Of which it is known what they can be. */
  readonly values?: KnownValues;
}

const TIMESTAMP = 'google.protobuf.Timestamp';

const NONE_KNOWN: KnownValues = { variables: new Map(), records: new Map() };

const LIMITS = { maxAstNodes: 256, maxDepth: 32, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 8 };
const COMPREHENSIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const REFUSED_FUNCTIONS = new Map([
  ['matches', 'use startsWith, endsWith, contains or =='],
  ['json', 'JSON is not read in expressions'],
]);

/** Compiles expressions against the declared names of one scenario. */
export class ExpressionCompiler {
  readonly #environment: Environment;
  readonly #declarations: Declarations;
  readonly #declared = new Set<string>();

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
    this.#environment = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS });
  }

  /** Whether a text is the name of a variable, or of a field of a record: `ask.digits`. */
  reads(text: string): boolean {
    const [name = '', field, ...more] = text.split('.');
    if (field === undefined) return this.#declarations.variables.has(name);
    return more.length === 0 && Object.hasOwn(this.#declarations.records.get(name) ?? {}, field);
  }

  /** What may be meant by a text that stands where a name is expected: itself, or a field of the record that it names. */
  meant(text: string): string | undefined {
    if (this.reads(text)) return text;
    const [name = '', field] = text.split('.');
    const fields = Object.keys(this.#declarations.records.get(name) ?? {});
    const found = field === undefined ? fields[0] : nearest(field, fields);
    return found === undefined ? undefined : `${name}.${found}`;
  }

  /** Only names that are used are declared to CEL, for each takes longer than compiling an expression. */
  #declare(source: string): void {
    const { variables, records } = this.#declarations;
    for (const [name] of source.matchAll(/[A-Za-z_]\w*/g)) {
      if (this.#declared.has(name)) continue;
      this.#declared.add(name);
      const type = variables.get(name);
      if (type !== undefined) this.#environment.registerVariable(name, CEL_TYPES[type]);
      const fields = records.get(name);
      if (name === NOW) this.#declareTime(type === undefined && fields === undefined);
      if (fields === undefined) continue;
      const schema = Object.fromEntries(Object.entries(fields).map(([field, of]) => [field, CEL_TYPES[of]]));
      this.#environment.registerVariable({ name, schema });
    }
  }

  /** @param free whether nothing of the scenario has the name */
  #declareTime(free: boolean): void {
    if (free) this.#environment.registerVariable(NOW, TIMESTAMP);
    this.#environment.registerFunction(`string(${TIMESTAMP}): string`, (time: Date) => time.toISOString());
    this.#environment.registerFunction(`int(${TIMESTAMP}): int`, (time: Date) =>
      BigInt(Math.floor(time.getTime() / 1000)),
    );
  }

  /** @returns doubts: comparisons that can run, and say the same whatever happens */
  compile(source: string): { expression: Expression; doubts: readonly Doubt[] } | { problem: ExpressionProblem } {
    this.#declare(source);
    let parsed: ParseResult;
    try {
      parsed = this.#environment.parse(source);
    } catch (error) {
      return { problem: misread(describe(error), source) };
    }
    const checked = parsed.check();
    if (!checked.valid) return { problem: this.#suggest(namingFunction(describe(checked.error), source), source) };
    const names = new Set<string>();
    const refused = inspect(parsed.ast, names, 0);
    if (refused) return { problem: refused };
    const type = checked.type ?? 'dyn';
    const known = this.#declarations.values ?? NONE_KNOWN;
    const values = possibleValues(parsed.ast, known);
    return {
      expression: {
        source,
        type,
        names,
        ...(values === undefined ? {} : { values }),
        evaluate: (scope) => evaluate(parsed, source, scope),
      },
      doubts: impossibleComparisons(parsed.ast, known),
    };
  }

  /** Adds the nearest name there is for an unknown name or field. */
  #suggest(problem: ExpressionProblem, source: string): ExpressionProblem {
    const { variables, records } = this.#declarations;
    const unknown = /^unknown name "(\w+)"$/.exec(problem.message)?.[1];
    if (unknown === 'Date') return suggest(problem, 'the time is now, e.g. now.getHours()');
    if (unknown !== undefined) {
      const known = [...variables.keys(), ...records.keys()];
      return suggest(problem, itself(unknown, source, known) ?? suggestName(unknown, known));
    }
    const field = /^there is no field "(\w+)"$/.exec(problem.message)?.[1];
    const record = records.get(/(\w+)\s*\.\s*$/.exec(source.slice(0, problem.start))?.[1] ?? '');
    return field !== undefined && record ? suggest(problem, suggestName(field, Object.keys(record))) : problem;
  }
}

/** Names stand for themselves (`args.who` is `who`), and texts are quoted (`== yes`). */
function itself(unknown: string, source: string, known: readonly string[]): string | undefined {
  const field = new RegExp(`\\b${unknown}\\.(\\w+)`).exec(source)?.[1];
  if (field !== undefined) return known.includes(field) ? `write ${field} by itself` : undefined;
  if (!/^(yes|no|on|off)$/i.test(unknown) && nearest(unknown, known) !== undefined) return undefined;
  const isCompared = new RegExp(`[=!]=\\s*${unknown}\\b(?!\\()|\\b${unknown}\\s*[=!]=`).test(source);
  return isCompared ? `write "${unknown}" if it is a text` : undefined;
}

function suggest(problem: ExpressionProblem, suggestion: string | undefined): ExpressionProblem {
  return suggestion === undefined ? problem : { ...problem, suggestion };
}

function evaluate(parsed: ParseResult, source: string, scope: Scope): Value {
  try {
    return fromCel(parsed(scope));
  } catch (error) {
    const reason = error instanceof ValueError ? error.message : describe(error).message;
    throw new ScenarioError('expression', `\${${source}}: ${reason}`, { cause: error });
  }
}

/** CEL's errors carry `summary` (one line) and `range`; anything else keeps its message. */
function describe(error: unknown): ExpressionProblem {
  const { summary, range, message } = error as { summary?: string; range?: { start: number }; message?: string };
  const text = summary ?? message ?? String(error);
  const start = range?.start ?? 0;
  const readable = text
    .replace(/^Unknown variable: (\w+)$/, 'unknown name "$1"')
    .replace(/^No such key: (\w+)$/, 'there is no field "$1"')
    .replace(/^no such overload: (.*)$/i, 'these types do not go together: $1')
    .replace('Unexpected token: EOF', 'the expression is incomplete')
    .replace(/^Expected \w+, got EOF$/, 'the expression is incomplete')
    .replace(/^Cannot index type '(.*?)'$/, 'a value of type $1 has no fields and no items')
    .replace(
      /^Logical operator requires bool operands, got '(.*)'$/,
      'only true and false can be combined, not a value of type $1',
    )
    .replace(
      /^List index must be int, got '(.*)'$/,
      'a list has no fields: items are read by their number, e.g. [0], and counted by size(...)',
    )
    .replace(
      /^Ternary condition must be bool, got '(.*)'$/,
      'a value of type $1 is not true or false; compare it, e.g. with ==',
    );
  const mixed = /string \+ (int|double|bool)|(int|double|bool) \+ string/.test(text);
  const contained = /string in string/.test(text);
  const numbers = /(?:int [-+*/] double|double [-+*/] int)/.test(text);
  const compared = /string (?:[=!<>]=|[<>]) (?:int|double)|(?:int|double) (?:[=!<>]=|[<>]) string/.test(text);
  return {
    start,
    message: /^(these types|only true|a value of)/.test(readable) ? plainTypes(readable) : readable,
    ...(mixed ? { suggestion: 'convert with string(...)' } : {}),
    ...(contained ? { suggestion: 'write text.contains("x")' } : {}),
    ...(/: ?!string/.test(readable) ? { suggestion: 'compare it, e.g. with == ""' } : {}),
    ...(numbers ? { suggestion: 'convert with double(...)' } : {}),
    ...(compared ? { suggestion: 'a text is compared with a text, e.g. "1"; int(...) makes it a number' } : {}),
  };
}

/** What is no CEL, but is so in other languages. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^===/, 'write == to compare'],
  [/^!==/, 'write != to compare'],
  [/^=>/, 'write list.map(x, x + 1)'],
  [/^=(?!=)/, 'write == to compare'],
  [/^and\b/i, 'write && for "and"'],
  [/^or\b/i, 'write || for "or"'],
  [/^not\b/i, 'write ! for "not"'],
  [/^matches\b/, 'use startsWith, endsWith, contains or =='],
  [/^\+\+/, 'write + 1, and give the value to a variable by set'],
  [/^--/, 'write - 1, and give the value to a variable by set'],
  [/^\?[?.]/, 'write has(a.b) ? a.b : something'],
  [/^`/, 'write a text in quotes'],
  [/^\$\{/, 'write the expression itself, without ${ }'],
];

/** A mistake of syntax, in words that say what to write. */
function misread(problem: ExpressionProblem, source: string): ExpressionProblem {
  if (!/^Unexpected (character|token)/.test(problem.message)) return problem;
  // The parser may have taken a word for a name before it stumbled.
  const places = [problem.start, problem.start - 1, source.slice(0, problem.start).search(/\w+\s*$/)];
  for (const start of places) {
    if (start < 0) continue;
    const [, suggestion] = FOREIGN.find(([pattern]) => pattern.test(source.slice(start))) ?? [];
    if (suggestion !== undefined) return { start, message: 'this is not understood', suggestion };
  }
  return { ...problem, message: problem.message.charAt(0).toLowerCase() + problem.message.slice(1) };
}

/** Functions of expressions, and what they are called elsewhere. */
const FUNCTIONS = [
  'size',
  'string',
  'int',
  'double',
  'bool',
  'has',
  'startsWith',
  'endsWith',
  'contains',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'join',
  'substring',
  'indexOf',
  'lastIndexOf',
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'timestamp',
  'duration',
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
];
const ELSEWHERE: Readonly<Record<string, string>> = {
  len: 'size',
  length: 'size',
  count: 'size',
  str: 'string',
  toString: 'string',
  tostring: 'string',
  number: 'int',
  float: 'double',
  parseInt: 'int',
  includes: 'contains',
  upper: 'upperAscii',
  lower: 'lowerAscii',
  toUpperCase: 'upperAscii',
  toLowerCase: 'lowerAscii',
  some: 'exists',
  every: 'all',
  getDay: 'getDayOfWeek',
  getTime: 'int',
  toISOString: 'string',
  strip: 'trim',
  substr: 'substring',
  slice: 'substring',
};

/** What is written in another way. */
const OTHERWISE: Readonly<Record<string, string>> = {
  push: 'write list + [item]',
  append: 'write list + [item]',
  concat: 'write one + other',
  replace: 'a script block can do it',
};

/** A function that there is not, or not for these values, at its very name. */
function namingFunction(problem: ExpressionProblem, source: string): ExpressionProblem {
  const [, owner, name = '', types = ''] =
    /^found no matching overload for '(?:([^']*)\.)?(\w+)\(([^']*)\)'$/.exec(problem.message) ?? [];
  if (name === '') return problem;
  const found = source.slice(problem.start).search(new RegExp(`\\b${name}\\s*\\(`));
  const start = found < 0 ? problem.start : problem.start + found;
  const of = owner === undefined ? types : `${owner}${types === '' ? '' : ` and ${types}`}`;
  if (FUNCTIONS.includes(name)) return { start, message: `"${name}" is not for values of type ${plainTypes(of)}` };
  if (name === NOW) return { start, message: 'now is no function', suggestion: 'write now, e.g. now.getHours()' };
  const known = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  const otherwise = Object.hasOwn(OTHERWISE, name) ? OTHERWISE[name] : undefined;
  const suggestion = otherwise ?? (known === undefined ? suggestName(name, FUNCTIONS) : `here it is "${known}"`);
  return { start, message: `there is no function "${name}"`, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** Our words for CEL types in a text. */
function plainTypes(text: string): string {
  return text
    .replaceAll(/\bgoogle\.protobuf\.(?:Timestamp|Duration)\b/g, 'time')
    .replaceAll(/\bint\b/g, 'integer')
    .replaceAll(/\bdouble\b/g, 'number')
    .replaceAll(/\bbool\b/g, 'boolean')
    .replaceAll(/\blist<[^>]*>/g, 'list')
    .replaceAll(/\bmap<[^>]*>/g, 'object')
    .replaceAll(/\bdyn\b/g, 'any');
}

/** Collects the names an expression reads and finds what is refused. */
function inspect(node: ASTNode, names: Set<string>, comprehensions: number): ExpressionProblem | undefined {
  let depth = comprehensions;
  if (node.op === 'id') names.add(node.args);
  if (node.op === 'call' || node.op === 'rcall') {
    const name = node.args[0];
    const instead = REFUSED_FUNCTIONS.get(name);
    if (instead !== undefined)
      return { start: node.start, message: `the function "${name}" is not available`, suggestion: instead };
    if (node.op === 'rcall' && COMPREHENSIONS.has(name)) depth += 1;
    if (depth > 1) return { start: node.start, message: `"${name}" inside another comprehension is not available` };
  }
  for (const child of children(node.args)) {
    const problem = inspect(child, names, depth);
    if (problem) return problem;
  }
  return undefined;
}

function children(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(children);
  return typeof args === 'object' && args !== null && 'op' in args && 'args' in args ? [args as ASTNode] : [];
}
