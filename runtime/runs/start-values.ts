/** Start values of scenarios from two texts. */
import {
  ArgumentError,
  type Parameter,
  plainText,
  type Program,
  type Value,
  type ValueType,
} from '../language/index.ts';
import { checkStart } from './run/scope.ts';
import type { Sensitive } from './run/sensitive.ts';

/** Start values of a scenario. */
export interface StartValues {
  readonly args: Readonly<Record<string, Value>>;
  readonly variables: Readonly<Record<string, Value>>;
  /** Sensitive values of the run that gives them. */
  readonly sensitive?: Sensitive;
  /** Language tag of the run; undefined: the scenario's or the domain's. */
  readonly language?: string | undefined;
}

/**
 * Reads the start values of a scenario from two unnamed parameters (specification, "INVITEBYIVR").
 * @param key a text: value of the first parameter; a JSON object: values of parameters and variables by name
 * @param param value of the second parameter
 * @throws ArgumentError for an unknown or missing value
 */
export function startValues(program: Program, key: string | undefined, param: string | undefined): StartValues {
  const args: Record<string, Value> = {};
  const variables: Record<string, Value> = {};
  const [first, second] = program.parameters;
  const named = key === undefined ? undefined : jsonObject(key);
  for (const [name, value] of Object.entries(named ?? {})) {
    if (program.variables.some((variable) => variable.name === name)) variables[name] = value;
    else args[name] = value;
  }
  if (key !== undefined && named === undefined) bind(args, program, first, 'key', key);
  if (param !== undefined) bind(args, program, second, 'param', param);
  if (program.module?.declaresParameters === false) return { args, variables };
  try {
    checkStart(program, args, variables);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    // These start values are positional.
    if (key !== undefined && named === undefined && error.field === first?.name) throw renamed(error, 'key');
    throw param !== undefined && error.field === second?.name ? renamed(error, 'param') : error;
  }
  return { args, variables };
}

function renamed({ field: name, reason }: ArgumentError, field: 'key' | 'param'): ArgumentError {
  return new ArgumentError(field, `${name}: ${reason}`);
}

function bind(
  args: Record<string, Value>,
  { module }: Program,
  parameter: Parameter | undefined,
  name: 'key' | 'param',
  text: string,
): void {
  // A module without declared parameters accepts any.
  if (module?.declaresParameters === false) args[name] = text;
  else if (parameter) args[parameter.name] = fromText(text, parameter.type);
  else throw new ArgumentError(name, `the scenario has no parameter for it`);
}

function jsonObject(text: string): Readonly<Record<string, Value>> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text) as Value;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, Value>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The text as a value of this type; otherwise the text itself, which the check refuses with the type's name. */
function fromText(text: string, type: ValueType): Value {
  if (type === 'string' || type === 'any') return text;
  try {
    const value = JSON.parse(text) as Value;
    return plainText(value) === '' ? text : value;
  } catch {
    return text;
  }
}
