import { type Node, isMap, isScalar, isSeq } from 'yaml';
import { ExpressionCompiler } from '../expression.ts';
import { suggestName } from '../problem.ts';
import type { Compiled, Parameter, Variable } from '../program.ts';
import { VALUE_TYPES, type Value, type ValueType, ZERO_VALUES, isOfType, plainText, typeOfValue } from '../values.ts';
import type { Names } from './names.ts';
import { SettingsChecker } from './settings.ts';
import { type Entry, type Source, scalarText } from './source.ts';

/** Reads the `parameters` and `variables` sections. */
export class DeclarationReader {
  readonly #source: Source;
  readonly #names: Names;

  constructor(source: Source, names: Names) {
    this.#source = source;
    this.#names = names;
  }

  /** `name: type`, or `name: {type, default, values, description}`. */
  parameters(node: Node | null): Parameter[] {
    const parameters: Parameter[] = [];
    for (const entry of this.#section(node, 'parameters')) {
      if (!this.#names.take(entry.key, 'parameter', entry.keyNode)) continue;
      const parameter = this.#parameter(entry, parameters);
      if (parameter) parameters.push(parameter);
    }
    return parameters;
  }

  /** `name: value`, or `name: {type, value}`. */
  variables(node: Node | null): Variable[] {
    const variables: Variable[] = [];
    for (const entry of this.#section(node, 'variables')) {
      if (!this.#names.take(entry.key, 'variable', entry.keyNode)) continue;
      const variable = this.#variable(entry);
      if (variable) variables.push(variable);
    }
    return variables;
  }

  #parameter({ key, keyNode, value }: Entry, before: readonly Parameter[]): Parameter | undefined {
    if (isScalar(value) && typeof value.value === 'string') {
      const type = this.#type(value, `parameter "${key}"`);
      return type && { name: key, type, description: undefined, values: undefined, default: undefined };
    }
    if (!isMap(value)) {
      this.#source.problem(
        value ?? keyNode,
        `the parameter "${key}" has no type`,
        `write ${key}: string, or {type, default}`,
      );
      return undefined;
    }
    const fields = this.#fields(value, ['type', 'default', 'values', 'description'], `parameter "${key}"`);
    const type = this.#type(fields.get('type')?.value ?? null, `parameter "${key}"`, keyNode);
    if (!type) return undefined;
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
    parameter: { key: string; type: ValueType; values: readonly Value[] | undefined },
    before: readonly Parameter[],
  ): Compiled | undefined {
    const variables = new Map(before.map(({ name, type }) => [name, type]));
    const compiler = new ExpressionCompiler({ variables, records: new Map() });
    const checker = new SettingsChecker({
      source: this.#source,
      compiler,
      variables,
      promptsFolder: '',
      used: () => undefined,
    });
    const compiled = checker.value(entry.value, 'the default');
    if (compiled?.kind !== 'constant') return compiled;
    const { key, type, values } = parameter;
    const literal = this.#coerce(compiled.value, entry.value, type);
    if (!isOfType(literal, type))
      this.#source.problem(entry.value ?? entry.keyNode, `the default of "${key}" is no ${type}`);
    else if (values && !values.includes(literal)) {
      this.#source.problem(
        entry.value ?? entry.keyNode,
        `the default of "${key}" is none of its values`,
        suggestName(plainText(literal), values.map(plainText)),
      );
    }
    return { kind: 'constant', value: literal };
  }

  #values(entry: Entry | undefined, type: ValueType, key: string): readonly Value[] | undefined {
    if (!entry) return undefined;
    if (!isSeq(entry.value) || entry.value.items.length === 0) {
      this.#source.problem(entry.value ?? entry.keyNode, `the values of "${key}" must be a list`);
      return undefined;
    }
    return entry.value.items.map((item) => {
      const value = this.#coerce((item as Node).toJSON() as Value, item as Node, type);
      if (!isOfType(value, type)) this.#source.problem(item as Node, `this value of "${key}" is no ${type}`);
      return value;
    });
  }

  #variable({ key, keyNode, value }: Entry): Variable | undefined {
    if (!isMap(value)) {
      const initial = (value?.toJSON() ?? null) as Value;
      return { name: key, type: typeOfValue(initial), initial };
    }
    const fields = this.#fields(value, ['type', 'value'], `variable "${key}"`);
    const type = this.#type(fields.get('type')?.value ?? null, `variable "${key}"`, keyNode);
    if (!type) return undefined;
    const given = fields.get('value');
    const initial = given
      ? this.#coerce((given.value?.toJSON() ?? null) as Value, given.value, type)
      : ZERO_VALUES[type];
    if (given && !isOfType(initial, type))
      this.#source.problem(given.value ?? keyNode, `the value of "${key}" is no ${type}`);
    return { name: key, type, initial };
  }

  /** A number where a text is declared is the text as written. */
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
    this.#source.problem(node, `${name} must be a map of names`);
    return [];
  }
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
