import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { ScenarioError } from './errors.ts';
import { suggestName } from './problem.ts';
import { CEL_TYPES, type Value, ValueError, type ValueType, fromCel } from './values.ts';

/**
 * Expressions of the scenario language: CEL (https://cel.dev), compiled and type-checked when the scenario is checked.
 * CEL has no loops and no side effects; what could still take long (backtracking regular expressions, comprehensions in
 * comprehensions) is refused, so that an expression can run without an isolate.
 */

/** The names an expression can use, with their values in CEL form. */
export type Scope = Record<string, unknown>;

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
  /** @throws ScenarioError code `expression` */
  evaluate(scope: Scope): Value;
}

/** Declared names of a scenario: variables have a type, records (block results, `call`, `error`) have typed fields. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly records: ReadonlyMap<string, Readonly<Record<string, ValueType>>>;
}

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

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
    this.#environment = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS });
    for (const [name, type] of declarations.variables) this.#environment.registerVariable(name, CEL_TYPES[type]);
    for (const [name, fields] of declarations.records) {
      const schema = Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, CEL_TYPES[type]]));
      this.#environment.registerVariable({ name, schema });
    }
  }

  compile(source: string): { expression: Expression } | { problem: ExpressionProblem } {
    let parsed: ParseResult;
    try {
      parsed = this.#environment.parse(source);
    } catch (error) {
      return { problem: describe(error) };
    }
    const checked = parsed.check();
    if (!checked.valid) return { problem: this.#suggest(describe(checked.error), source) };
    const names = new Set<string>();
    const refused = inspect(parsed.ast, names, 0);
    if (refused) return { problem: refused };
    const type = checked.type ?? 'dyn';
    return { expression: { source, type, names, evaluate: (scope) => evaluate(parsed, source, scope) } };
  }

  /** Adds the nearest name there is for an unknown name or field. */
  #suggest(problem: ExpressionProblem, source: string): ExpressionProblem {
    const { variables, records } = this.#declarations;
    const unknown = /^unknown name "(\w+)"$/.exec(problem.message)?.[1];
    if (unknown !== undefined) return suggest(problem, suggestName(unknown, [...variables.keys(), ...records.keys()]));
    const field = /^there is no field "(\w+)"$/.exec(problem.message)?.[1];
    const record = records.get(/(\w+)\s*\.\s*$/.exec(source.slice(0, problem.start))?.[1] ?? '');
    return field !== undefined && record ? suggest(problem, suggestName(field, Object.keys(record))) : problem;
  }
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
    .replace('Unexpected token: EOF', 'the expression is incomplete');
  const mixed = /string \+ (int|double|bool)|(int|double|bool) \+ string/.test(text);
  return { start, message: readable, ...(mixed ? { suggestion: 'convert with string(...)' } : {}) };
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
