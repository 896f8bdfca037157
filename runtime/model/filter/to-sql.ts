/** Back-end for PostgreSQL: an expression as a parameterised fragment. */
import { sql } from '../../storage/index.ts';
import { type Expression, isList } from './expression.ts';
import { type Fragment, join, literal, type SqlFields } from './fragment.ts';
import {
  type ComparisonName,
  type FunctionName,
  isComparison,
  isLogic,
  type LiteralName,
  type LogicName,
} from './functions.ts';
import { likeToRegex, parseLike } from './like.ts';
import { parseRegex } from './regex/parse.ts';
import { printRegex } from './regex/print.ts';

const AND = sql` and `;
const OR = sql` or `;
const COMMA = sql`, `;

type CallNode = Extract<Expression, { kind: 'call' }>;

/** Compiles expressions over the columns of one table. */
export class SqlCompiler {
  readonly #fields: SqlFields;

  constructor(fields: SqlFields) {
    this.#fields = fields;
  }

  /** For WHERE: null counts as false there, so plain comparisons stay plain and indexes apply. */
  condition(expression: Expression): Fragment {
    if (expression.kind !== 'call') return this.value(expression);
    const { name, args } = expression;
    if (isComparison(name)) return this.#comparison(name, args);
    if (name === 'not') return sql`(not ${this.#exact(args[0] as Expression)})`;
    if (!isLogic(name)) return this.#call(expression);
    return join(
      args.map((arg) => this.condition(arg)),
      name === 'and' ? AND : OR,
    );
  }

  /** The value of an expression; comparisons are true or false, never null. */
  value(expression: Expression): Fragment {
    switch (expression.kind) {
      case 'const':
        return literal(expression.type, expression.value);
      case 'property':
        return this.#property(expression);
      case 'cast':
        return this.#cast(expression);
      case 'call':
        return isComparison(expression.name) || isLogic(expression.name)
          ? this.#exact(expression)
          : this.#call(expression);
      default:
        return expression satisfies never;
    }
  }

  /** A value with the same order; columns stay columns, so that an index applies. */
  sortKey(expression: Expression): Fragment {
    const isColumn = expression.kind === 'property' && expression.keys.length === 0;
    return (isColumn ? this.#fields.get(expression.name)?.sql : undefined) ?? this.value(expression);
  }

  #exact(expression: Expression): Fragment {
    if (expression.kind !== 'call') return sql`coalesce(${this.value(expression)}, false)`;
    const { name, args } = expression;
    if (name === 'and' || name === 'or') {
      return join(
        args.map((arg) => this.#exact(arg)),
        name === 'and' ? AND : OR,
      );
    }
    return name === 'not' ? this.condition(expression) : sql`coalesce(${this.condition(expression)}, false)`;
  }

  #property({ name, keys, type }: Extract<Expression, { kind: 'property' }>): Fragment {
    const field = this.#fields.get(name);
    if (field === undefined) throw new Error(`Field ${name} has no column.`);
    if (keys.length > 0) return atPath(field.sql, keys);
    if (type === 'number') return field.isInteger ? sql`${field.sql}::float8` : field.sql;
    return type === 'number[]' && field.isInteger ? sql`${field.sql}::float8[]` : field.sql;
  }

  #cast({ type, value }: Extract<Expression, { kind: 'cast' }>): Fragment {
    const inner = this.value(value);
    if (type === 'json') return sql`to_jsonb(${inner})`;
    if (type === 'text') return sql`(model.text(${inner}) collate "C")`;
    if (type === 'number') return sql`model.number(${inner})`;
    if (type === 'boolean') return sql`model.boolean(${inner})`;
    throw new Error(`JSON cannot be cast to ${type}.`);
  }

  /** Two operands in the column's type, if the other is a fitting literal; else in their common type. */
  #operands(a: Expression, b: Expression): readonly [Fragment, Fragment] {
    const left = this.#integerColumn(a);
    if (left !== undefined) {
      const right = this.#integers(b);
      if (right !== undefined) return [left, right];
    }
    const right = this.#integerColumn(b);
    if (right !== undefined) {
      const other = this.#integers(a);
      if (other !== undefined) return [other, right];
    }
    return [this.value(a), this.value(b)];
  }

  #integerColumn(expression: Expression): Fragment | undefined {
    if (expression.kind !== 'property' || expression.keys.length > 0) return undefined;
    const field = this.#fields.get(expression.name);
    return field?.isInteger === true ? field.sql : undefined;
  }

  #integers(expression: Expression): Fragment | undefined {
    if (expression.kind !== 'const') return this.#integerColumn(expression);
    const { value } = expression;
    if (Array.isArray(value)) return value.every(Number.isSafeInteger) ? sql`${value}::bigint[]` : undefined;
    return Number.isSafeInteger(value) ? sql`${value}::bigint` : undefined;
  }

  #comparison(name: ComparisonName, args: readonly Expression[]): Fragment {
    const [a, b, c] = args as [Expression, Expression, Expression];
    switch (name) {
      case 'equal':
        return this.#equal(a, b);
      case 'not_equal':
        return this.#notEqual(a, b);
      case 'less':
      case 'less_or_equal':
      case 'greater':
      case 'greater_or_equal': {
        const [left, right] = this.#operands(a, b);
        return sql`(${left} ${OPERATORS[name]} ${right})`;
      }
      case 'between':
        return this.#between(a, b, c);
      case 'in':
        return this.#in(a, b);
      case 'is_null':
        return sql`(${this.value(a)} is null)`;
      case 'is_empty':
        return this.#isEmpty(a);
      case 'like':
        return sql`(${this.value(a)} like ${constant(b)}::text)`;
      case 'ilike':
        return this.#matches(a, printRegex(likeToRegex(parseLike(constant(b)) ?? [], true)));
      case 'regexp':
      case 'iregexp':
        return this.#matches(a, printRegex(parseRegex(constant(b), name === 'iregexp')));
      case 'starts_with':
        return sql`starts_with(${this.value(a)}, ${this.value(b)})`;
      case 'ends_with':
        return sql`model.ends_with(${this.value(a)}, ${this.value(b)})`;
      case 'contains':
        return sql`(strpos(${this.value(a)}, ${this.value(b)}) > 0)`;
      case 'contains_all':
      case 'contains_any':
        return this.#lists(name, a, b);
      default:
        return name satisfies never;
    }
  }

  #equal(a: Expression, b: Expression): Fragment {
    if (isNull(b)) return sql`(${this.value(a)} is null)`;
    if (isNull(a)) return sql`(${this.value(b)} is null)`;
    const [left, right] = this.#operands(a, b);
    const operator = a.kind === 'const' || b.kind === 'const' ? sql`=` : sql`is not distinct from`;
    return sql`(${left} ${operator} ${right})`;
  }

  #notEqual(a: Expression, b: Expression): Fragment {
    if (isNull(b)) return sql`(${this.value(a)} is not null)`;
    if (isNull(a)) return sql`(${this.value(b)} is not null)`;
    const [left, right] = this.#operands(a, b);
    return sql`(${left} is distinct from ${right})`;
  }

  #between(value: Expression, low: Expression, high: Expression): Fragment {
    const ends = [this.#integers(low), this.#integers(high)];
    const column = this.#integerColumn(value);
    if (column !== undefined && ends[0] !== undefined && ends[1] !== undefined) {
      return sql`(${column} between ${ends[0]} and ${ends[1]})`;
    }
    const [x, from, to] = [value, low, high].map((each) => this.value(each));
    if (value.kind === 'property') return sql`(${x} between ${from} and ${to})`;
    // BETWEEN repeats its first operand; nested, the statement doubles with every level.
    return value.type === 'number'
      ? sql`model.between_numbers(${x}, ${from}, ${to})`
      : sql`model.between_texts(${x}, ${from}, ${to})`;
  }

  #in(value: Expression, list: Expression): Fragment {
    if (list.type === 'empty[]') return sql`false`;
    if (list.type === 'json') return sql`model.contains(${this.value(list)}, ${this.value(value)})`;
    const [item, items] = this.#operands(value, list);
    return sql`(${item} = any(${items}))`;
  }

  #isEmpty(expression: Expression): Fragment {
    const value = this.value(expression);
    if (expression.type === 'text') return sql`(coalesce(${value}, '') = '')`;
    if (isList(expression.type)) return sql`(coalesce(cardinality(${value}), 0) = 0)`;
    if (expression.type !== 'json') return sql`(${value} is null)`;
    return sql`(coalesce(${value}, '""'::jsonb) = any(array['""', '[]', '{}']::jsonb[]))`;
  }

  #matches(value: Expression, pattern: string): Fragment {
    return sql`(${this.value(value)} ~ (${pattern}::text collate "C"))`;
  }

  #lists(name: 'contains_all' | 'contains_any', a: Expression, b: Expression): Fragment {
    const [left, right] = this.#operands(a, b);
    if (a.type === 'json') return sql`model.${sql.raw(name)}(${left}, ${right})`;
    return name === 'contains_all' ? sql`(${left} @> ${right})` : sql`(${left} && ${right})`;
  }

  #call(call: CallNode): Fragment {
    const args = call.args.map((arg) => this.value(arg));
    const [a, b, c] = args as [Fragment, Fragment, Fragment | undefined];
    const name = call.name as Exclude<FunctionName, ComparisonName | LogicName | LiteralName>;
    switch (name) {
      case 'if':
        return sql`(case when ${this.condition(call.args[0] as Expression)} then ${b} else ${c} end)`;
      case 'coalesce':
        return sql`coalesce(${commaSeparated(args)})`;
      case 'lower':
        return sql`(model.lower(${a}) collate "C")`;
      case 'upper':
        return sql`(model.upper(${a}) collate "C")`;
      case 'concat':
        return sql`(concat(${commaSeparated(args)}) collate "C")`;
      case 'substr':
        return sql`(model.substr(${a}, ${b}, ${c ?? sql`1e9`}) collate "C")`;
      case 'length':
        return sql`char_length(${a})::float8`;
      case 'size':
        return call.args[0]?.type === 'json' ? sql`model.size(${a})::float8` : sql`cardinality(${a})::float8`;
      case 'add':
      case 'mul':
        return args.reduce((sum, arg) => sql`model.${sql.raw(name)}(${sum}, ${arg})`);
      case 'sub':
      case 'div':
      case 'mod':
        return sql`model.${sql.raw(name)}(${a}, ${b})`;
      case 'round':
        return sql`model.round(${a})`;
      case 'abs':
      case 'floor':
      case 'ceil':
        return sql`${sql.raw(name)}(${a})`;
      case 'ts':
        return sql`model.ts(${a})`;
      case 'trunc':
        // Whole milliseconds: PostgreSQL cannot divide the smallest double and answers with an error.
        return sql`model.trunc(${a}, floor(${b}))`;
      case 'year':
      case 'month':
      case 'day':
      case 'hour':
        return sql`model.part(${name}, floor(${a}))`;
      case 'count':
        return args.length === 0 ? sql`count(*)::float8` : sql`count(${a})::float8`;
      case 'count_distinct':
        return sql`count(distinct ${a})::float8`;
      case 'sum':
      case 'avg':
        return sql`${sql.raw(name)}(${a})`;
      case 'min':
      case 'max': {
        const extreme = sql`${sql.raw(name)}(${a})`;
        return call.type === 'text' ? sql`(${extreme} collate "C")` : extreme;
      }
      default:
        return name satisfies never;
    }
  }
}

const OPERATORS = {
  less: sql`<`,
  less_or_equal: sql`<=`,
  greater: sql`>`,
  greater_or_equal: sql`>=`,
} as const;

function isNull(expression: Expression): boolean {
  return expression.kind === 'const' && expression.value === null;
}

/** The text of a pattern; the parser has checked that it is a literal text. */
function constant(expression: Expression): string {
  if (expression.kind === 'const' && typeof expression.value === 'string') return expression.value;
  throw new Error('The pattern is not a literal.');
}

function commaSeparated(fragments: readonly Fragment[]): Fragment {
  return sql`${sql.join(fragments, COMMA)}`;
}

/** The value at a JSON path. The function for lists of objects is slow, and rarely needed. */
function atPath(column: Fragment, keys: readonly string[]): Fragment {
  const plain = sql`nullif(${column} #> ${keys}::text[], 'null'::jsonb)`;
  const through = sql`model.through(${column}, ${keys}::text[])`;
  // A number may be an array index, which is no name in a JSON path.
  if (keys.some((key) => /^[+-]?\d+$/.test(key))) return sql`coalesce(${plain}, ${through})`;
  // Lax mode: names apply to each element of a list.
  const path = `$${keys.map((key) => `.${JSON.stringify(key)}`).join('')}`;
  return sql`coalesce(${plain}, case when ${column} @? ${path}::jsonpath then ${through} end)`;
}
