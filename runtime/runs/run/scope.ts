/** Names and values for the expressions of a run. */
import type { CallPort } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import type { RunError } from './outcome.ts';
import {
  ArgumentError,
  type Compiled,
  evaluate,
  heldValue,
  isOfType,
  NOW,
  type Parameter,
  type Program,
  ScenarioError,
  type Scope,
  toCel,
  type Value,
  type ValueType,
  ZERO_VALUES,
} from '../../language/index.ts';

/** The value of `error` before any. */
const NO_ERROR = { code: '', message: '', block: '' } as const;

/** Further start values of a run, beside its arguments. */
export interface ScopeExtras {
  /** Start values of variables, in place of the declared ones. */
  readonly variables?: Readonly<Record<string, Value>> | undefined;
  /** Placeholders of secrets, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The time, milliseconds since the epoch. */
  readonly now?: () => number;
  /** The present language of the run. */
  readonly language?: () => string;
}

/** The names in a run's expressions, with their current values. */
export class RunScope {
  readonly #program: Program;
  readonly #values: Scope = {};

  /**
   * @param args values of the parameters by name
   * @param run id of the run
   * @param variables start values of variables, in place of the declared ones
   * @throws ArgumentError for a missing, unknown or invalid argument or variable
   */
  constructor(
    program: Program,
    args: Readonly<Record<string, Value>>,
    call: CallPort | undefined,
    run: string,
    { variables = {}, secrets = {}, now = Date.now, language = () => '' }: ScopeExtras = {},
  ) {
    this.#program = program;
    // Set first: a scenario may declare this name itself.
    Object.defineProperty(this.#values, NOW, { enumerable: true, configurable: true, get: () => new Date(now()) });
    const blocks = [...program.blocks.values()].filter(({ component }) => Object.keys(component.results).length > 0);
    const own = [...program.parameters, ...program.variables, ...blocks];
    if (own.some(({ name }) => name === NOW)) delete this.#values[NOW];
    this.#bindParameters(args);
    for (const name of Object.keys(variables)) {
      if (!program.variables.some((variable) => variable.name === name))
        throw new ArgumentError(name, 'the scenario has no such variable');
    }
    for (const { name, type, initial } of program.variables) {
      const given = variables[name];
      const value = given === undefined ? this.#initial(name, initial) : given;
      if (!isOfType(value, type)) throw new ArgumentError(name, `must be of type ${type}`);
      this.#values[name] = toCel(value, type);
    }
    for (const { name } of blocks) this.setResult(name, {});
    this.setError(NO_ERROR);
    this.setEvent({ kind: '', name: '', data: null });
    const about = { id: program.id, version: program.version, run };
    Object.defineProperty(this.#values, 'scenario', {
      enumerable: true,
      get: () => ({ ...about, language: language() }),
    });
    this.#values['secrets'] = { ...secrets };
    Object.defineProperty(this.#values, 'call', { enumerable: true, get: () => callRecord(call) });
  }

  get values(): Scope {
    return this.#values;
  }

  /** Values that other nodes cannot compute: results of blocks, the last error and event. */
  held(): Readonly<Record<string, Value>> {
    const blocks = [...this.#program.blocks.values()].filter(
      ({ component: { results } }) => Object.keys(results).length > 0,
    );
    const names = [...blocks.map(({ name }) => name), 'error', 'event'];
    return Object.fromEntries(names.map((name) => [name, heldValue(this.#values[name])]));
  }

  /** Takes what `held` gave at another node. */
  restore({ error, event, ...blocks }: Readonly<Record<string, Value>>): void {
    for (const [name, fields] of Object.entries(blocks)) this.setResult(name, fields as Record<string, Value>);
    this.setError(error as unknown as typeof NO_ERROR);
    this.setEvent(event as unknown as { kind: string; name: string; data: Value });
  }

  /** Current values of the declared variables. */
  variables(): Readonly<Record<string, Value>> {
    return Object.fromEntries(this.#program.variables.map(({ name }) => [name, heldValue(this.#values[name])]));
  }

  /** @throws ScenarioError code `type` when the variable has another type */
  assign(name: string, value: Value): void {
    const variable = this.#program.variables.find((candidate) => candidate.name === name);
    if (!variable) throw new ScenarioError('type', `there is no variable ${name}`);
    if (!isOfType(value, variable.type)) {
      throw new ScenarioError(
        'type',
        `the variable ${name} is of type ${variable.type} and cannot hold ${JSON.stringify(value)}`,
      );
    }
    this.#values[name] = toCel(value, variable.type);
  }

  /** Result fields of a block; omitted ones get the zero value of their type. */
  setResult(block: string, fields: Readonly<Record<string, Value>>): void {
    const declared = this.#program.blocks.get(block)?.component.results ?? {};
    this.#values[block] = record(
      Object.entries(declared).map(([name, { type }]) => [name, fields[name] ?? ZERO_VALUES[type], type]),
    );
  }

  setError({ code, message, block }: Pick<RunError, 'code' | 'message' | 'block'> | typeof NO_ERROR): void {
    this.#values['error'] = { code, message, block };
  }

  /** Sets the event of an interrupt. */
  setEvent({ kind, name, data }: { readonly kind: string; readonly name: string; readonly data: Value }): void {
    this.#values['event'] = { kind, name, data: toCel(data, 'any') };
  }

  #bindParameters(args: Readonly<Record<string, Value>>): void {
    const { parameters } = this.#program;
    for (const name of Object.keys(args)) {
      if (!parameters.some((parameter) => parameter.name === name))
        throw new ArgumentError(name, 'the scenario has no such parameter');
    }
    for (const parameter of parameters) {
      const value = this.#argument(parameter, args[parameter.name]);
      this.#values[parameter.name] = toCel(value, parameter.type);
    }
  }

  #argument({ name, type, values, default: preset }: Parameter, given: Value | undefined): Value {
    if (given === undefined && !preset) throw new ArgumentError(name, 'is required');
    const value = given === undefined && preset ? this.#initial(name, preset) : (given ?? null);
    if (!isOfType(value, type)) throw new ArgumentError(name, `must be of type ${type}`);
    if (values && !values.includes(value))
      throw new ArgumentError(name, `must be one of ${values.map(String).join(', ')}`);
    return value;
  }

  /** Computed from the arguments, so that a failure is an argument error. */
  #initial(name: string, compiled: Compiled): Value {
    try {
      return evaluate(compiled, this.#values);
    } catch (error) {
      throw new ArgumentError(name, error instanceof Error ? error.message : String(error));
    }
  }
}

/**
 * Values of all parameters, defaults included.
 * @throws ArgumentError for a missing, unknown or invalid argument
 */
export function boundArguments(program: Program, args: Readonly<Record<string, Value>>): Record<string, Value> {
  const { values } = new RunScope(program, args, undefined, '');
  return Object.fromEntries(program.parameters.map(({ name }) => [name, heldValue(values[name])]));
}

/** @throws ArgumentError for unknown or missing start values */
export function checkStart(
  program: Program,
  args: Readonly<Record<string, Value>>,
  variables: Readonly<Record<string, Value>>,
): void {
  // The constructor makes the check.
  void new RunScope(program, args, undefined, '', { variables });
}

function record(fields: readonly (readonly [string, Value, ValueType])[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(([name, value, type]) => [name, toCel(value, type)]));
}

/** The record `call` of a scenario. */
export function callRecord(call: CallPort | undefined): Record<string, string> {
  const end = call?.endSignal.aborted ? (call.endSignal.reason as CallEnd) : undefined;
  return {
    callid: call?.callid ?? '',
    dialogid: call?.dialogid ?? '',
    state: call?.state ?? 'none',
    domain: call?.domain ?? '',
    dialled: call?.dialled ?? '',
    number: call?.opponent?.number ?? '',
    login: call?.opponent?.login ?? '',
    name: call?.opponent?.name ?? '',
    verstat: call?.opponent?.verstat ?? '',
    ended_by: end?.by ?? '',
    end_reason: end?.reason ?? '',
  };
}
