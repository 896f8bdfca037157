/** Reads expressions in prefix notation: `["name", argument, ...]` (decisions, "Filter functions"). */
import { convert, listLiteral } from './convert.ts';
import { FilterError } from './errors.ts';
import { type Expression, type FieldTypes, LIMITS } from './expression.ts';
import { formNamed, functionNamed, isAggregate } from './functions.ts';
import { typedCall } from './signatures.ts';

export interface ParseContext {
  readonly fields: FieldTypes;
  /** Value of `now` for the whole expression, milliseconds since the epoch. */
  readonly now: number;
}

type Mode = 'plain' | 'aggregating';

/** Parses one parameter; all its expressions share one limit of nodes. */
export class ExpressionParser {
  readonly context: ParseContext;
  #nodes = 0;

  constructor(context: ParseContext) {
    this.context = context;
  }

  /**
   * @param path position of the expression in errors, e.g. `filter`
   * @throws FilterError
   */
  parse(input: unknown, path: string, mode: Mode = 'plain', depth = 1): Expression {
    this.countNode(path);
    if (Array.isArray(input)) return this.#call(input, path, mode, depth);
    return this.#scalar(input, path);
  }

  /** Counts one node. @throws FilterError over the limit */
  countNode(path: string): void {
    this.#nodes += 1;
    if (this.#nodes > LIMITS.nodes) throw new FilterError(path, `makes more than ${LIMITS.nodes} nodes`);
  }

  /** @param keys the property's name, then keys below it */
  property(parts: readonly string[], path: string): Expression {
    const whole = parts.join('.');
    // Result names may contain dots; property names do not.
    const [name = '', ...keys] = parts.length > 1 && this.context.fields.get(whole) !== undefined ? [whole] : parts;
    const type = this.context.fields.get(name);
    if (type === undefined) throw new FilterError(path, `names no property: "${name.slice(0, 64)}"`);
    if (keys.length === 0) return { kind: 'property', type, name, keys };
    if (type !== 'json') throw new FilterError(path, `asks for a key of ${name}, which has none`);
    if (keys.length > LIMITS.depth) throw new FilterError(path, `has more than ${LIMITS.depth} keys`);
    for (const key of keys) checkText(key, path);
    return { kind: 'property', type, name, keys };
  }

  #call(input: readonly unknown[], path: string, mode: Mode, depth: number): Expression {
    if (depth > LIMITS.depth) throw new FilterError(path, `nests more than ${LIMITS.depth} deep`);
    const [name, ...rest] = input;
    if (typeof name !== 'string') throw new FilterError(path, 'must begin with the name of a function');
    const form = formNamed(name);
    if (form === 'property') {
      if (mode === 'aggregating') throw new FilterError(path, 'must stand within an aggregate or in groupby');
      return this.#path(rest, path);
    }
    if (form === 'const') return this.#constant(rest, path);
    if (form === 'list') return this.#list(rest, path);
    const known = functionNamed(name);
    if (known === undefined) throw new FilterError(`${path}[0]`, `names no function: "${name.slice(0, 64)}"`);
    if (isAggregate(known) && mode === 'plain') throw new FilterError(path, `${known} belongs in aggr`);
    const paths = rest.map((_, index) => `${path}[${index + 1}]`);
    const inner = isAggregate(known) ? 'plain' : mode;
    const args = rest.map((arg, index) => this.parse(arg, paths[index] ?? path, inner, depth + 1));
    const call = typedCall(known, args, paths, path);
    if (known === 'now') return { kind: 'const', type: 'number', value: this.context.now };
    if (known === 'true' || known === 'false') return { kind: 'const', type: 'boolean', value: known === 'true' };
    return call;
  }

  #path(args: readonly unknown[], path: string): Expression {
    const keys = args.flatMap((arg, index) => {
      if (typeof arg === 'number') return [String(arg)];
      if (typeof arg === 'string') return arg.split('.');
      throw new FilterError(`${path}[${index + 1}]`, 'must be the name of a property');
    });
    if (keys.length === 0) throw new FilterError(path, 'names no property');
    return this.property(keys, path);
  }

  #constant(args: readonly unknown[], path: string): Expression {
    const [value] = args;
    if (args.length !== 1) throw new FilterError(path, `const takes 1 argument, not ${args.length}`);
    if (typeof value !== 'object' || value === null) return this.#scalar(value, `${path}[1]`);
    this.#checkJson(value, `${path}[1]`, 1);
    return Array.isArray(value) ? listLiteral(value) : { kind: 'const', type: 'json', value };
  }

  /** Any JSON literal. @throws FilterError */
  json(value: object, path: string): object {
    this.#checkJson(value, path, 1);
    return value;
  }

  #checkJson(value: unknown, path: string, depth: number): void {
    this.countNode(path);
    if (depth > LIMITS.depth) throw new FilterError(path, `nests more than ${LIMITS.depth} deep`);
    if (typeof value === 'string') checkText(value, path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      checkText(key, path);
      this.#checkJson(item, path, depth + 1);
    }
  }

  #list(args: readonly unknown[], path: string): Expression {
    const values = args.map((arg, index) => {
      const element = this.parse(arg, `${path}[${index + 1}]`);
      if (element.kind === 'const' && element.value !== null) return element.value;
      throw new FilterError(`${path}[${index + 1}]`, 'must be a text, a number, true or false');
    });
    return listLiteral(values);
  }

  #scalar(value: unknown, path: string): Expression {
    if (typeof value === 'string') return { kind: 'const', type: 'text', value: checkText(value, path) };
    if (typeof value === 'boolean') return { kind: 'const', type: 'boolean', value };
    if (value === null) return { kind: 'const', type: 'null', value };
    if (typeof value !== 'number') {
      throw new FilterError(path, 'must be an expression ["name", ...], a text, a number, true, false or null');
    }
    if (!Number.isFinite(value)) throw new FilterError(path, 'must be a finite number');
    return { kind: 'const', type: 'number', value };
  }
}

/** PostgreSQL's `text` cannot hold these, so comparison with them fails. */
export function checkText(text: string, path: string): string {
  if (text.includes('\0')) throw new FilterError(path, 'must not hold the character U+0000');
  if (!text.isWellFormed()) throw new FilterError(path, 'must be valid Unicode');
  return text;
}

/** Parses an expression as a condition. @throws FilterError */
export function parseCondition(parser: ExpressionParser, input: unknown, path: string): Expression {
  return convert(parser.parse(input, path), 'boolean', path);
}
