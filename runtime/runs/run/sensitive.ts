/** What callers pressed or said in secret, and how it is kept out of traces and logs. */
import type { Value } from '../../language/index.ts';

/** Stands in the place of a sensitive value of any length. */
export const MASK = '****';

/** A shorter value occurs in many texts; it is masked where it stands alone. */
const LONG = 4;
/** Limit of known values; of more, the oldest ones are forgotten. */
const MAX_VALUES = 1000;

/** The sensitive values of a run, shared with the scenarios that it starts. */
export class Sensitive {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;

  /** True while nothing is sensitive. */
  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** All of them, for another node that works for this run. */
  get texts(): readonly string[] {
    return [...this.#values];
  }

  /** Adds the texts and numbers in an answer. */
  add(answer: unknown): void {
    for (const text of textsIn(answer)) this.#add(text);
  }

  /** Adds what was computed from sensitive values; short results, such as a length, tell nothing by themselves. */
  addDerived(result: unknown): void {
    for (const text of textsIn(result)) if (text.length >= LONG) this.#add(text);
  }

  /** Adds those values of another run that occur in its message. */
  learn(other: Sensitive, message: Value): void {
    for (const value of other.within(message)) this.#add(value);
  }

  /** Those that occur in a message. */
  within(message: Value): readonly string[] {
    if (this.isEmpty) return [];
    const said = new Set(textsIn(message));
    const long = [...said].join('\n');
    return [...this.#values].filter((value) => said.has(value) || (value.length >= LONG && long.includes(value)));
  }

  /** The text with stars in place of sensitive values. */
  text(text: string): string {
    if (this.#values.size === 0) return text;
    this.#pattern ??= patternOf(this.#values);
    return text.replace(this.#pattern, MASK);
  }

  /** The same for a value of any kind. */
  value<Kind>(value: Kind): Kind {
    return this.#values.size === 0 ? value : (this.#masked(value) as Kind);
  }

  /** The same for an error, with its causes: for logs. */
  error(error: unknown): unknown {
    if (this.#values.size === 0) return error;
    if (!(error instanceof Error)) return this.#masked(error);
    const shown = new Error(this.text(error.message));
    shown.name = error.name;
    shown.stack = this.text(error.stack ?? '');
    if (error.cause !== undefined) shown.cause = this.error(error.cause);
    return shown;
  }

  #add(text: string): void {
    if (this.#values.has(text)) return;
    this.#values.add(text);
    const [oldest] = this.#values;
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest);
    this.#pattern = undefined;
  }

  #masked(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#values.has(String(value)) ? MASK : value;
    if (Array.isArray(value)) return value.map((item) => this.#masked(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.#masked(item)]));
  }
}

/** A sensitive field as a trace shows it. That there is no answer, or a yes or no, is no secret. */
export function hidden(value: Value): Value {
  const isTold = value === '' || value === null || typeof value === 'boolean';
  return isTold || (Array.isArray(value) && value.length === 0) ? value : MASK;
}

/** The fields with stars in place of those with these names. */
export function withHidden(
  fields: Readonly<Record<string, Value>>,
  names: ReadonlySet<string>,
): Readonly<Record<string, Value>> {
  if (names.size === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, names.has(name) ? hidden(value) : value]),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (typeof value === 'number') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Finds the values as they are, within JSON and within a URL; the longest first. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const forms = [...values].flatMap((value) => [value, JSON.stringify(value).slice(1, -1), inUrl(value)]);
  const escaped = [...new Set(forms)]
    .toSorted((one, other) => other.length - one.length)
    .map((form) => {
      const plain = form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
      return form.length >= LONG ? plain : `(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`;
    });
  return new RegExp(escaped.join('|'), 'giu');
}

/** A lone surrogate has no form in a URL. */
function inUrl(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
