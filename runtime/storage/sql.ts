/**
 * Builds SQL text with parameters from fragments. A value is always a parameter; names and raw SQL are explicit
 * (`sql.id`, `sql.raw`). It replaces kysely's `sql` for such statements at a tenth of the time, and can be embedded in
 * it.
 */
import { CompiledQuery, type Kysely, type OperationNode, RawNode, ValueNode } from 'kysely';

/** A statement in PostgreSQL's form. */
export interface Statement {
  /** With `$1`, `$2` ... for the values. */
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A fragment of SQL, or a whole statement whose rows are `Row`. */
export class Fragment<Row = unknown> {
  readonly #strings: readonly string[];
  /** One fewer than the strings; fragments are SQL, all others parameters. */
  readonly #values: readonly unknown[];
  /** Row type, for the compiler only. */
  declare readonly row: Row;

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.#strings = strings;
    this.#values = values;
  }

  /** Compiles to text and parameters. */
  statement(): Statement {
    const values: unknown[] = [];
    return { text: this.#write(values), values };
  }

  /** Runs through kysely, on a connection or in a transaction. */
  async execute<Schema>(db: Kysely<Schema>): Promise<{ readonly rows: Row[]; readonly numAffectedRows?: bigint }> {
    const { text, values } = this.statement();
    return await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
  }

  /** kysely's interface of a part of its own `sql`. */
  toOperationNode(): OperationNode {
    const nodes = this.#values.map((value) =>
      value instanceof Fragment ? value.toOperationNode() : ValueNode.create(value),
    );
    return RawNode.create(this.#strings, nodes);
  }

  #write(values: unknown[]): string {
    let text = this.#strings[0] ?? '';
    for (let index = 0; index < this.#values.length; index += 1) {
      const value = this.#values[index];
      if (value instanceof Fragment) text += value.#write(values);
      else text += `$${values.push(value)}`;
      text += this.#strings[index + 1] ?? '';
    }
    return text;
  }
}

interface Sql {
  <Row = unknown>(strings: readonly string[], ...values: readonly unknown[]): Fragment<Row>;
  /** Joins fragments and parameters with a separator, by default `, `. */
  join(parts: readonly unknown[], separator?: Fragment): Fragment;
  /** A name, or several joined by dots. */
  id(...names: readonly string[]): Fragment;
  /** Raw SQL text. Never user input. */
  raw(text: string): Fragment;
  /** A number literal, where parameters are not allowed. */
  number(value: number): Fragment;
}

function template<Row = unknown>(strings: readonly string[], ...values: readonly unknown[]): Fragment<Row> {
  return new Fragment<Row>(strings, values);
}

function join(parts: readonly unknown[], separator: Fragment = COMMA): Fragment {
  const values = parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
  return new Fragment(
    Array.from({ length: values.length + 1 }, () => ''),
    values,
  );
}

function raw(text: string): Fragment {
  return new Fragment([text], []);
}

const COMMA = raw(', ');

export const sql: Sql = Object.assign(template, {
  join,
  raw,
  id: (...names: readonly string[]): Fragment => raw(names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')),
  number(value: number): Fragment {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be written in SQL.`);
    return raw(String(value));
  },
});
