import { type Node, isMap, isScalar, isSeq } from 'yaml';
import { ExpressionCompiler } from '../../expression/expression.ts';
import { suggestName } from '../../problem.ts';
import type { Compiled, Parameter, Variable } from '../../program.ts';
import {
  VALUE_TYPES,
  type Value,
  type ValueType,
  ZERO_VALUES,
  isOfType,
  plainText,
  typeOfValue,
} from '../../values.ts';
import type { Names } from './names.ts';
import { SettingsChecker } from '../blocks/settings.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';
import { celFits, plainType, staticType } from './static-type.ts';

/** Reads the `parameters` and `variables` sections. */
export class DeclarationReader {
  readonly #source: Source;
  readonly #names: Names;
  /** Variables without a first value. */
  readonly unset = new Set<string>();

  constructor(source: Source, names: Names) {
    this.#source = source;
    this.#names = names;
  }

  /** `name: type`, or `name: {type, default, values, description}`. */
  parameters(node: Node | null): Parameter[] {
    const parameters: Parameter[] = [];
    for (const entry of this.#section(node, 'parameters')) {
      if (this.#names.take(entry.key, 'parameter', entry.keyNode)) parameters.push(this.#parameter(entry, parameters));
    }
    return parameters;
  }

  /** `name: value`, or `name: {type, value}`; a value may be an expression over the parameters. */
  variables(node: Node | null, parameters: readonly Parameter[]): Variable[] {
    const variables: Variable[] = [];
    for (const entry of this.#section(node, 'variables')) {
      if (!this.#names.take(entry.key, 'variable', entry.keyNode)) continue;
      const variable = this.#variable(entry, parameters);
      if (variable) variables.push(variable);
    }
    return variables;
  }

  #parameter({ key, keyNode, value }: Entry, before: readonly Parameter[]): Parameter {
    if (isScalar(value) && typeof value.value === 'string') {
      const type = this.#type(value, `parameter "${key}"`) ?? 'any';
      return { name: key, type, description: undefined, values: undefined, default: undefined };
    }
    if (!isMap(value)) {
      this.#source.problem(
        value ?? keyNode,
        `the parameter "${key}" has no type`,
        isSeq(value)
          ? `write ${key}: { type: string, values: [...] }`
          : `write ${key}: string, or ${key}: { type: string, default: ... }`,
      );
      return { name: key, type: 'any', description: undefined, values: undefined, default: undefined };
    }
    const fields = this.#fields(value, ['type', 'default', 'values', 'description'], `parameter "${key}"`);
    // A mistake in the declaration is not repeated at every use.
    const type = this.#type(fields.get('type')?.value ?? null, `parameter "${key}"`, keyNode) ?? 'any';
    const values = this.#values(fields.get('values'), type, key);
    const preset = fields.get('default');
    return {
      name: key,
      type,
      description: this.#text(fields.get('description')),
      values,
      default: preset && this.#default(preset, { key, type, values }, before),
    };
  }

  /** A default may be an expression over the parameters before it. */
  #default(
    entry: Entry,
    { key, type, values }: { key: string; type: ValueType; values: readonly Value[] | undefined },
    before: readonly Parameter[],
  ): Compiled | undefined {
    const compiled = this.#typed(entry, type, `the default of "${key}"`, before);
    if (compiled?.kind === 'constant' && values && !values.includes(compiled.value)) {
      const suggestion = suggestName(plainText(compiled.value), values.map(plainText));
      this.#source.problem(entry.value ?? entry.keyNode, `the default of "${key}" is none of its values`, suggestion);
    }
    return compiled;
  }

  /** A literal or an expression over parameters, checked against a type. */
  #typed(entry: Entry, type: ValueType, what: string, parameters: readonly Parameter[]): Compiled | undefined {
    const compiled = this.#compile(entry, what, parameters);
    if (!compiled) return undefined;
    const exact: Compiled =
      compiled.kind === 'constant'
        ? { kind: 'constant', value: this.#coerce(compiled.value, entry.value, type) }
        : compiled;
    const fits = exact.kind === 'constant' ? isOfType(exact.value, type) : celFits(staticType(exact), [type]);
    const isQuoted = compiled.kind === 'constant' && typeof compiled.value === 'string';
    const bare = isQuoted && isOfType(parsed(compiled.value), type) ? 'write it without quotes' : undefined;
    if (!fits) this.#source.problem(entry.value ?? entry.keyNode, `${what} is no ${type}`, bare);
    return exact;
  }

  #compile({ value }: Entry, what: string, parameters: readonly Parameter[]): Compiled | undefined {
    const variables = new Map(parameters.map(({ name, type }) => [name, type]));
    const compiler = new ExpressionCompiler({ variables, records: new Map() });
    const context = { source: this.#source, compiler, variables, promptsFolder: '', used: () => undefined };
    return new SettingsChecker(context).value(value, what);
  }

  #values(entry: Entry | undefined, type: ValueType, key: string): readonly Value[] | undefined {
    if (!entry) return undefined;
    if (!isSeq(entry.value) || entry.value.items.length === 0) {
      this.#source.problem(
        entry.value ?? entry.keyNode,
        `the values of "${key}" must be a list`,
        'write values: [a, b]',
      );
      return undefined;
    }
    return entry.value.items.map((item) => {
      const value = this.#coerce((item as Node).toJSON() as Value, item as Node, type);
      if (!isOfType(value, type)) this.#source.problem(item as Node, `this value of "${key}" is no ${type}`);
      return value;
    });
  }

  #variable(entry: Entry, parameters: readonly Parameter[]): Variable | undefined {
    const { key, keyNode, value } = entry;
    const what = `the value of "${key}"`;
    if (!isMap(value)) {
      const initial = this.#compile(entry, what, parameters);
      const text = initial?.kind === 'constant' ? initial.value : undefined;
      const type = VALUE_TYPES.find((each) => each === text);
      if (type !== undefined)
        this.#source.warning(
          value,
          `"${key}" begins as the text "${type}"`,
          `for a type write ${key}: { type: ${type} }`,
        );
      return initial && { name: key, type: isFraction(value) ? 'number' : valueTypeOf(initial), initial };
    }
    const isValue =
      value.items.length > 0 && !this.#source.entries(value).some((field) => ['type', 'value'].includes(field.key));
    if (isValue) {
      this.#source.problem(value, `the variable "${key}" has no type`, `write ${key}: { type: object, value: {...} }`);
      return undefined;
    }
    const fields = this.#fields(value, ['type', 'value'], `variable "${key}"`);
    const type = this.#type(fields.get('type')?.value ?? null, `variable "${key}"`, keyNode);
    if (!type) return undefined;
    const given = fields.get('value');
    if (!given) this.unset.add(key);
    const zero: Compiled = { kind: 'constant', value: ZERO_VALUES[type] };
    return { name: key, type, initial: (given && this.#typed(given, type, what, parameters)) ?? zero };
  }

  /** A number for a declared text is the text as written. */
  #coerce(value: Value, node: Node | null, type: ValueType): Value {
    return type === 'string' && typeof value === 'number' && isScalar(node) ? (node.source ?? String(value)) : value;
  }

  #type(node: Node | null, what: string, fallback?: Node): ValueType | undefined {
    const text = isScalar(node) ? scalarText(node) : '';
    const type = VALUE_TYPES.find((candidate) => candidate === text);
    if (!type) {
      const message = node === null ? `${what} has no type` : `${what} has the unknown type "${text}"`;
      this.#source.problem(node ?? fallback ?? null, message, suggestName(ALIASES.get(text) ?? text, VALUE_TYPES));
    }
    return type;
  }

  #text(entry: Entry | undefined): string | undefined {
    return isScalar(entry?.value) ? scalarText(entry.value) : undefined;
  }

  #fields(node: Node, known: readonly string[], what: string): Map<string, Entry> {
    const fields = new Map<string, Entry>();
    for (const entry of isMap(node) ? this.#source.entries(node) : []) {
      if (known.includes(entry.key)) fields.set(entry.key, entry);
      else this.#source.problem(entry.keyNode, `${what} has no "${entry.key}"`, suggestName(entry.key, known));
    }
    return fields;
  }

  #section(node: Node | null, name: string): Entry[] {
    if (node === null || (isScalar(node) && node.value === null)) return [];
    if (isMap(node)) return this.#source.entries(node);
    this.#source.problem(node, `${name} must be a map of names`, `write ${name}: { NAME: ... }`);
    return [];
  }
}

/** `0.0`: a number with a fraction, which here is zero. */
function isFraction(node: Node | null): boolean {
  return isScalar(node) && typeof node.value === 'number' && (node.source ?? '').includes('.');
}

/** The value of a text without its quotes. */
function parsed(text: string): Value {
  return /^(true|false|-?\d+(\.\d+)?)$/.test(text) ? (JSON.parse(text) as Value) : text;
}

function valueTypeOf(initial: Compiled): ValueType {
  return initial.kind === 'constant' ? typeOfValue(initial.value) : plainType(staticType(initial));
}

/** Type names of other languages, for the suggestion. */
const ALIASES = new Map([
  ['str', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['bool', 'boolean'],
  ['array', 'list'],
  ['map', 'object'],
]);
