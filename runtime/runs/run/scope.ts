import type { CallPort } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import { ArgumentError, type Compiled, evaluate, heldValue, isOfType, NOW, type Parameter, type Program, ScenarioError, type Scope, toCel, type Value, type ValueType, ZERO_VALUES } from '../../language/index.ts';

/** What a run has beside its arguments. */
export interface ScopeExtras {
  /** First values of variables, in place of the declared ones. */
  readonly variables?: Readonly<Record<string, Value>> | undefined;
  /** Texts that stand for secrets, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The time, milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The names a run's expressions read, with their present values. */
export class RunScope {
  readonly #program: Program;
  readonly #values: Scope = {};

  /**
   * @param args values of the parameters by name
   * @param run id of the run
   * @param variables values that variables begin with in place of what the scenario says
   * @throws ArgumentError for an argument or variable that is missing, unknown or not allowed
   */
  constructor(
    program: Program,
    args: Readonly<Record<string, Value>>,
    call: CallPort | undefined,
    run: string,
    { variables = {}, secrets = {}, now = Date.now }: ScopeExtras = {},
  ) {
    this.#program = program;
    // Before all others: a scenario may have something of its own by this name.
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
      const value = variables[name] ?? this.#initial(name, initial);
      if (!isOfType(value, type)) throw new ArgumentError(name, `must be of type ${type}`);
      this.#values[name] = toCel(value, type);
    }
    for (const { name } of blocks) this.setResult(name, {});
    this.setError({ code: '', message: '', block: '' });
    this.setEvent({ kind: '', name: '', data: null });
    this.#values['scenario'] = { id: program.id, version: program.version, run };
    this.#values['secrets'] = { ...secrets };
    Object.defineProperty(this.#values, 'call', { enumerable: true, get: () => callRecord(call) });
  }

  get values(): Scope {
    return this.#values;
  }

  /** The variables that the scenario declares, as they are now. */
  variables(): Readonly<Record<string, Value>> {
    return Object.fromEntries(this.#program.variables.map(({ name }) => [name, heldValue(this.#values[name])]));
  }

  /** @throws ScenarioError code `type` when the variable is of another type */
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

  /** Result fields of a block; those not given get the zero value of their type. */
  setResult(block: string, fields: Readonly<Record<string, Value>>): void {
    const declared = this.#program.blocks.get(block)?.component.results ?? {};
    this.#values[block] = record(
      Object.entries(declared).map(([name, { type }]) => [name, fields[name] ?? ZERO_VALUES[type], type]),
    );
  }

  setError(error: { readonly code: string; readonly message: string; readonly block: string }): void {
    this.#values['error'] = { ...error };
  }

  /** What interrupted the run. */
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

  /** Worked out from the arguments, so that a failure is theirs. */
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
 * @throws ArgumentError for an argument that is missing, unknown or not allowed
 */
export function boundArguments(program: Program, args: Readonly<Record<string, Value>>): Record<string, Value> {
  const { values } = new RunScope(program, args, undefined, '');
  return Object.fromEntries(program.parameters.map(({ name }) => [name, heldValue(values[name])]));
}

/** @throws ArgumentError for start values that a scenario has no place for, or that it misses */
export function checkStart(
  program: Program,
  args: Readonly<Record<string, Value>>,
  variables: Readonly<Record<string, Value>>,
): void {
  // Its making is the check.
  void new RunScope(program, args, undefined, '', { variables });
}

function record(fields: readonly (readonly [string, Value, ValueType])[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(([name, value, type]) => [name, toCel(value, type)]));
}

/** What a scenario knows of its call. */
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
    ended_by: end?.by ?? '',
    end_reason: end?.reason ?? '',
  };
}
