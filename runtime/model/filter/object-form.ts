/**
 * Reads the object notation of filters (specification, "GET collection query parameters"): `{field: condition}`, all of
 * which must hold. `a|b` alternatives, `%` any text, `/reg/x` and `/reg/i/x` regular expressions, `15~;~5` ranges (both
 * ends included). A list must be contained; an object is nested. `\` escapes `| % ~ ;`.
 */
import { convert, listLiteral } from './convert.ts';
import { FilterError } from './errors.ts';
import { type Expression, isList, LIMITS } from './expression.ts';
import type { FunctionName } from './functions.ts';
import { checkText, type ExpressionParser } from './parser.ts';
import { typedCall } from './signatures.ts';

const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** @throws FilterError */
export function parseObjectForm(parser: ExpressionParser, input: object, path: string): Expression {
  return new ObjectForm(parser).conditions(input, [], path, 1);
}

class ObjectForm {
  readonly #parser: ExpressionParser;

  constructor(parser: ExpressionParser) {
    this.#parser = parser;
  }

  conditions(input: object, parent: readonly string[], path: string, depth: number): Expression {
    if (depth > LIMITS.depth) throw new FilterError(path, `nests more than ${LIMITS.depth} deep`);
    const all = Object.entries(input).map(([key, condition]) => {
      const keyPath = `${path}.${key.slice(0, 64)}`;
      return this.#condition([...parent, ...key.split('.')], condition, keyPath, depth);
    });
    return all.length === 0 ? { kind: 'const', type: 'boolean', value: true } : this.#call('and', all, path);
  }

  #condition(keys: readonly string[], condition: unknown, path: string, depth: number): Expression {
    this.#parser.countNode(path);
    const field = this.#parser.property(keys, path);
    if (condition === null) return this.#call('is_null', [field], path);
    if (Array.isArray(condition)) return this.#list(field, condition, path);
    if (typeof condition === 'object') return this.conditions(condition, keys, path, depth + 1);
    if (typeof condition === 'string') checkText(condition, path);
    if (isList(field.type)) {
      return this.#any(alternatives(condition), path, (each) => this.#list(field, [each], path));
    }
    if (field.type === 'boolean') return this.#equal(field, flag(condition, path), path);
    if (typeof condition !== 'string') return this.#scalar(field, condition, path);
    if (field.type === 'number') return this.#number(field, condition, path);
    const regexp = /^\/reg\/(i\/)?(.*)$/s.exec(condition);
    if (regexp !== null) {
      const pattern: Expression = { kind: 'const', type: 'text', value: regexp[2] ?? '' };
      return this.#call(regexp[1] === undefined ? 'regexp' : 'iregexp', [field, pattern], path);
    }
    if (field.type === 'json') return this.#json(field, condition, path);
    return this.#any(split(condition, '|'), path, (each) => this.#text(field, each, path));
  }

  /** A number or boolean as condition of a field of another type, or of JSON. */
  #scalar(field: Expression, condition: unknown, path: string): Expression {
    if (typeof condition !== 'number' && typeof condition !== 'boolean') {
      throw new FilterError(path, 'must be a condition: a text, a number, true, false, null, a list or an object');
    }
    if (field.type === 'json') return this.#oneOf(field, [condition], path);
    return this.#equal(field, field.type === 'text' ? String(condition) : condition, path);
  }

  #list(field: Expression, items: readonly unknown[], path: string): Expression {
    const values = items.map((item, index): unknown => {
      this.#parser.countNode(path);
      if (typeof item === 'string') checkText(item, path);
      if (field.type === 'number[]' || field.type === 'number') return numberIn(item, `${path}[${index}]`);
      if (field.type === 'boolean[]') return flag(item, `${path}[${index}]`);
      if (field.type !== 'json' && (typeof item === 'number' || typeof item === 'boolean')) return String(item);
      if (field.type === 'json' && typeof item === 'object' && item !== null) return this.#parser.json(item, path);
      if (typeof item === 'object')
        throw new FilterError(`${path}[${index}]`, 'must be a text, a number, true or false');
      return item;
    });
    const list = listLiteral(values);
    if (isList(field.type)) return this.#call('contains_all', [field, list], path);
    if (field.type !== 'json') return this.#call('in', [field, list], path);
    const all = values.map((value) => this.#call('contains_any', [field, listLiteral(meanings(value))], path));
    const isAll = all.length === 0 ? this.#call('contains_all', [field, list], path) : this.#call('and', all, path);
    return this.#call('or', [isAll, this.#call('in', [field, listLiteral(values.flatMap(meanings))], path)], path);
  }

  #text(field: Expression, condition: string, path: string): Expression {
    if (!hasUnescaped(condition, '%')) return this.#equal(field, unescape(condition), path);
    // In LIKE, underscore and backslash are special; in this notation they are not.
    const pattern = condition.replaceAll(/\\([|%~;\\])|[_\\]/g, (found, escaped: string | undefined) =>
      escaped === undefined ? `\\${found}` : escaped === '%' || escaped === '\\' ? `\\${escaped}` : escaped,
    );
    return this.#call('like', [field, { kind: 'const', type: 'text', value: pattern }], path);
  }

  #number(field: Expression, condition: string, path: string): Expression {
    return this.#any(
      split(condition, ';').flatMap((part) => split(part, '|')),
      path,
      (each) => {
        const [from = '', to, ...more] = split(each, '~');
        if (to === undefined) return this.#equal(field, numberIn(from, path), path);
        if (more.length > 0) throw new FilterError(path, 'has a range with more than two ends');
        const low = from.trim() === '' ? undefined : numberIn(from, path);
        const high = to.trim() === '' ? undefined : numberIn(to, path);
        const ends: Expression[] = [];
        if (low !== undefined) ends.push(this.#compare('greater_or_equal', field, low, path));
        if (high !== undefined) ends.push(this.#compare('less_or_equal', field, high, path));
        if (ends.length === 0) throw new FilterError(path, 'has a range without ends');
        return this.#call('and', ends, path);
      },
    );
  }

  /** A text condition on JSON of any type: it means what it means for a field of that type. */
  #json(field: Expression, condition: string, path: string): Expression {
    const choices: Expression[] = [];
    const literals: string[] = [];
    for (const part of split(condition, '|')) {
      if (isRange(part)) choices.push(this.#number(convert(field, 'number', path), part, path));
      if (hasUnescaped(part, '%')) choices.push(this.#text(convert(field, 'text', path), part, path));
      else literals.push(unescape(part));
    }
    if (literals.length > 0) choices.push(this.#oneOf(field, literals, path));
    return this.#any(choices, path, (choice) => choice);
  }

  /** JSON equal to one of these values, or a list containing one. */
  #oneOf(field: Expression, values: readonly unknown[], path: string): Expression {
    const list = listLiteral(values.flatMap(meanings));
    return this.#call(
      'or',
      [this.#call('in', [field, list], path), this.#call('contains_any', [field, list], path)],
      path,
    );
  }

  #any<T>(items: readonly T[], path: string, each: (item: T) => Expression): Expression {
    const choices = items.map(each);
    return choices.length === 1 && choices[0] !== undefined ? choices[0] : this.#call('or', choices, path);
  }

  #equal(field: Expression, value: unknown, path: string): Expression {
    return this.#compare('equal', field, value, path);
  }

  #compare(name: FunctionName, field: Expression, value: unknown, path: string): Expression {
    const type = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean';
    return this.#call(name, [field, { kind: 'const', type, value }], path);
  }

  #call(name: FunctionName, args: readonly Expression[], path: string): Expression {
    this.#parser.countNode(path);
    return typedCall(
      name,
      args,
      args.map(() => path),
      path,
    );
  }
}

function alternatives(condition: unknown): readonly unknown[] {
  return typeof condition === 'string' ? split(condition, '|').map(unescape) : [condition];
}

/** Splits at unescaped separators; escapes stay. */
function split(text: string, separator: string): string[] {
  const parts = [''];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === separator) {
      parts.push('');
      continue;
    }
    const escaped = character === '\\' && index + 1 < text.length;
    parts[parts.length - 1] += escaped ? character + (text[index + 1] ?? '') : character;
    if (escaped) index += 1;
  }
  return parts;
}

/** Ranges of numbers: `1~5;10~`, `1;2`. */
function isRange(text: string): boolean {
  const ranges = split(text, ';').map((part) => split(part, '~'));
  const isNumeric = ranges.every((ends) => ends.every((end) => end.trim() === '' || NUMBER.test(end)));
  return (
    isNumeric &&
    (ranges.length > 1 || ranges[0]?.length === 2) &&
    ranges.every((ends) => ends.some((end) => NUMBER.test(end)))
  );
}

/** The text, number and boolean readings of a condition. */
function meanings(condition: unknown): readonly unknown[] {
  if (typeof condition === 'object') return [condition];
  const text = typeof condition === 'string' ? condition : JSON.stringify(condition);
  const word = text.toLowerCase();
  return [
    text,
    ...(NUMBER.test(text) && Number.isFinite(Number(text)) ? [Number(text)] : []),
    ...(word === 'true' || word === '1' ? [true] : word === 'false' || word === '0' ? [false] : []),
  ];
}

function hasUnescaped(text: string, character: string): boolean {
  return split(text, character).length > 1;
}

function unescape(text: string): string {
  return text.replaceAll(/\\([|%~;\\])/g, '$1');
}

function numberIn(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && NUMBER.test(value) && Number.isFinite(Number(value))) return Number(value);
  throw new FilterError(path, 'must be a number or ranges such as 1~5;10~');
}

function flag(value: unknown, path: string): boolean {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (word === true || word === 1 || word === 'true' || word === '1') return true;
  if (word === false || word === 0 || word === 'false' || word === '0') return false;
  throw new FilterError(path, 'must be true or false');
}
