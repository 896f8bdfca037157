/**
 * Expressions of the scenario language: CEL (https://cel.dev), compiled and type-checked when the scenario is checked.
 * CEL has no loops and no side effects. Slow constructs (backtracking regular expressions, nested comprehensions) are
 * refused, so that an expression can run without an isolate.
 */
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { ScenarioError } from '../errors.ts';
import { type Doubt, impossibleComparisons, type KnownValues, possibleValues } from '../possible-values.ts';
import { type ExpressionProblem, failed, mistyped, misread, nearestField } from './words.ts';
import { formatFunctions, inLanguageOf, wrongFormat } from './format-functions.ts';
import { NO_REGULAR_EXPRESSIONS } from './foreign-syntax.ts';
import { lookedInto } from './looked-into.ts';
import { mixNumbers } from './number-operators.ts';
import { children, COMPREHENSIONS, unknownNames } from './unknown-names.ts';
import { CEL_TYPES, type Value, ValueError, type ValueType, fromCel } from '../values.ts';

/** The names an expression can use, with their values in CEL form. */
export type Scope = Record<string, unknown>;

export interface Expression {
  readonly source: string;
  /** CEL type of the result; `dyn` when it is known only at run time. */
  readonly type: string;
  /** Variables the expression reads. */
  readonly names: ReadonlySet<string>;
  /** Records of which the expression reads a part of a field without checking that it exists, with that part. */
  readonly lookedInto: ReadonlyMap<string, string>;
  /** All possible results, where known. */
  readonly values?: readonly string[];
  /** @throws ScenarioError code `expression` */
  evaluate(scope: Scope): Value;
}

/** Declared names of a scenario: variables have a type, records (block results, `call`, `error`) have typed fields. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly records: ReadonlyMap<string, Readonly<Record<string, ValueType>>>;
  /** Possible values of names, where known. */
  readonly values?: KnownValues;
  /** Names with a mistake at their declaration: mistakes of expressions that read them follow from it. */
  readonly refused?: ReadonlySet<string>;
}

/** An expression that cannot run. */
export interface Mistaken {
  readonly problem: ExpressionProblem;
  readonly more?: readonly ExpressionProblem[];
}

/** The current time, unless the scenario declares this name itself. */
export const NOW = 'now';

/** Maps with fields known only at run time. */
const SECRETS = 'secrets';

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** A CEL duration; as a number, its milliseconds. */
interface Duration {
  readonly seconds: bigint;
  valueOf(): number;
}

/** CEL types that are not values of the scenario language. */
const NO_VALUES: ReadonlyMap<string, Omit<ExpressionProblem, 'start'>> = new Map([
  [DURATION, { message: 'a length of time is no value by itself', suggestion: 'write int(...): its seconds' }],
  [
    'type',
    {
      message: 'this is the name of a type, and no value',
      suggestion: 'compare it: type(x) == string, or choose another name',
    },
  ],
  ...['bytes', 'optional', 'OptionalNamespace', 'CelNamespace'].map(
    (type) => [type, { message: 'this is no value', suggestion: 'there are texts, numbers, lists and maps' }] as const,
  ),
]);

const TIME_PARTS: Readonly<Record<string, string>> = {
  hour: 'getHours',
  minute: 'getMinutes',
  second: 'getSeconds',
  day: 'getDayOfWeek',
  date: 'getDate',
  month: 'getMonth',
  year: 'getFullYear',
  fullyear: 'getFullYear',
};

/** Reserved names of CEL, which a scenario cannot declare. */
export const CEL_WORDS: ReadonlySet<string> = new Set(
  `as break const continue else false for function if import in let loop null package namespace return true var void while
   int uint double string bool bytes list map type null_type dyn size has google optional cel`.split(/\s+/),
);

/** Names known in every expression: CEL's own, and the time. */
const KNOWN_WORDS: ReadonlySet<string> = new Set([...CEL_WORDS, NOW, 'timestamp', 'duration']);

/** Type names that times can be converted to. */
const OF_TIME = new Set([NOW, 'timestamp', 'duration']);

const NONE_KNOWN: KnownValues = { variables: new Map(), records: new Map() };

const LIMITS = { maxAstNodes: 256, maxDepth: 32, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 8 };
const REFUSED_FUNCTIONS = new Map([
  ['matches', NO_REGULAR_EXPRESSIONS],
  ['json', 'JSON is not read in expressions'],
]);

const BASE = formatFunctions(mixNumbers(new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })));

/** Compiles expressions against the declared names of one scenario. */
export class ExpressionCompiler {
  readonly #environment: Environment;
  readonly #declarations: Declarations;
  readonly #declared = new Set<string>();
  #hasNow = false;
  #hasTimes = false;

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
    this.#environment = BASE.clone();
  }

  /** True for the name of a variable, or of a field of a record: `ask.digits`. */
  reads(text: string): boolean {
    const [name = '', field, ...more] = text.split('.');
    if (field === undefined) return this.#declarations.variables.has(name);
    if (name === SECRETS && more.length === 0) return this.#declarations.variables.has(SECRETS);
    return more.length === 0 && Object.hasOwn(this.#declarations.records.get(name) ?? {}, field);
  }

  /** True for a name with fields, such as that of a block. */
  isRecord(name: string): boolean {
    return this.#declarations.records.has(name);
  }

  /** True when the expression reads a name with a mistake at its declaration. */
  readsRefused(source: string): boolean {
    const { refused } = this.#declarations;
    // `my-block` is no name, and is read as a difference.
    const words = [/(?<![\w.])[A-Za-z_]\w*/g, /(?<![\w.])[A-Za-z_][\w-]*/g].flatMap((each) => source.match(each) ?? []);
    return refused !== undefined && words.some((word) => refused.has(word));
  }

  /** The likely name behind a text: the text itself, or a field of the record that it names. */
  meant(text: string): string | undefined {
    if (this.reads(text)) return text;
    const [name = '', field] = text.split('.');
    const fields = Object.keys(this.#declarations.records.get(name) ?? {});
    const found = field === undefined ? fields[0] : nearestField(field, fields);
    return found === undefined ? undefined : `${name}.${found}`;
  }

  /** Declares only the used names to CEL: declaring one takes longer than compiling an expression. */
  #declare(source: string): void {
    const { variables, records } = this.#declarations;
    for (const [name] of source.matchAll(/[A-Za-z_]\w*/g)) {
      if (this.#declared.has(name)) continue;
      this.#declared.add(name);
      // A forbidden name is reported at its declaration.
      if (CEL_WORDS.has(name)) continue;
      const type = variables.get(name);
      if (type !== undefined) this.#environment.registerVariable(name, CEL_TYPES[type]);
      // A variable of a scenario with mistakes may hide a record.
      const fields = type === undefined ? records.get(name) : undefined;
      if (OF_TIME.has(name)) this.#declareTimes();
      if (name === NOW && type === undefined && fields === undefined) this.#declareNow();
      if (fields === undefined) continue;
      const schema = Object.fromEntries(Object.entries(fields).map(([field, of]) => [field, CEL_TYPES[of]]));
      this.#environment.registerVariable({ name, schema });
    }
  }

  #declareNow(): void {
    this.#environment.registerVariable(NOW, TIMESTAMP);
    this.#hasNow = true;
  }

  #declareTimes(): void {
    if (this.#hasTimes) return;
    this.#hasTimes = true;
    const register = this.#environment.registerFunction.bind(this.#environment);
    register(`string(${TIMESTAMP}): string`, (time: Date) => time.toISOString());
    register(`int(${TIMESTAMP}): int`, (time: Date) => BigInt(Math.floor(time.getTime() / 1000)));
    register(`string(${DURATION}): string`, (length: Duration) => `${Number(length) / 1000}s`);
    register(`int(${DURATION}): int`, ({ seconds }: Duration) => seconds);
  }

  /** CEL's type check accepts every field of a time, although times have none. */
  #noFieldsOfTime(node: ASTNode): ExpressionProblem | undefined {
    if (!this.#hasNow) return undefined;
    if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === NOW) {
      const field = node.args[1];
      const found = /^(hours?|minutes?|seconds?|day|date|month|(?:full)?year)$/i.exec(field)?.[1]?.toLowerCase();
      const part = TIME_PARTS[found?.replace(/s$/, '') ?? ''] ?? 'getHours';
      return { start: node.start, message: `the time has no field "${field}"`, suggestion: `write now.${part}()` };
    }
    for (const child of children(node.args)) {
      const problem = this.#noFieldsOfTime(child);
      if (problem) return problem;
    }
    return undefined;
  }

  #mistaken(ast: ASTNode, error: unknown, source: string): Mistaken {
    const problem = mistyped(error, source, this.#declarations);
    const unknown = unknownNames(ast, source, this.#declarations, KNOWN_WORDS);
    return {
      problem,
      more: unknown.filter(({ start, message }) => start !== problem.start && message !== problem.message),
    };
  }

  /**
   * @returns doubts: comparisons with a constant result; more: further unknown names, beside `problem`
   */
  compile(source: string): { expression: Expression; doubts: readonly Doubt[] } | Mistaken {
    this.#declare(source);
    let parsed: ParseResult;
    try {
      parsed = this.#environment.parse(source);
    } catch (error) {
      return { problem: misread(error, source, this.#declarations) };
    }
    const checked = parsed.check();
    if (!checked.valid) return this.#mistaken(parsed.ast, checked.error, source);
    const names = new Set<string>();
    const refused = inspect(parsed.ast, names, 0) ?? this.#noFieldsOfTime(parsed.ast);
    if (refused) return { problem: refused };
    const type = checked.type ?? 'dyn';
    const instead = NO_VALUES.get(type.replace(/<.*/, ''));
    if (instead !== undefined) return { problem: { start: 0, ...instead } };
    const known = this.#declarations.values ?? NONE_KNOWN;
    const values = possibleValues(parsed.ast, known);
    return {
      expression: {
        source,
        type,
        names,
        lookedInto: lookedInto(parsed.ast),
        ...(values === undefined ? {} : { values }),
        evaluate: (scope) => evaluate(parsed, source, scope),
      },
      doubts: impossibleComparisons(parsed.ast, known),
    };
  }
}

function evaluate(parsed: ParseResult, source: string, scope: Scope): Value {
  try {
    return fromCel(inLanguageOf(scope, () => parsed(scope)));
  } catch (error) {
    const reason = error instanceof ValueError ? error.message : failed(error, source);
    throw new ScenarioError('expression', `\${${source}}: ${reason}`, { cause: error });
  }
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
    const wrong = node.op === 'call' ? wrongFormat(name, node.args[1]) : undefined;
    if (wrong !== undefined) return wrong;
    if (node.op === 'rcall' && COMPREHENSIONS.has(name)) depth += 1;
    if (depth > 1) return { start: node.start, message: `"${name}" inside another comprehension is not available` };
  }
  for (const child of children(node.args)) {
    const problem = inspect(child, names, depth);
    if (problem) return problem;
  }
  return undefined;
}
