import { createHash } from 'node:crypto';
import { type Node, type Pair, Scalar, type YAMLMap, isScalar } from 'yaml';
import type { Problem } from '../problem.ts';

/** One `key: value` of a map. */
export interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
}

/** The text of a scenario file, which collects the mistakes found in it. */
export class Source {
  readonly file: string;
  /** Offsets at which the lines start. */
  readonly #lines: readonly number[];
  protected readonly text: string;
  readonly #problems: Problem[] = [];

  constructor(text: string, file: string) {
    this.text = text;
    this.file = file;
    this.#lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  /** Problems in the order of their position. */
  get problems(): readonly Problem[] {
    return this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Notes a mistake at a node, or at the start of the file when there is none. */
  problem(node: Node | null, message: string, suggestion?: string): void {
    this.problemAt(node?.range?.[0] ?? 0, message, suggestion);
  }

  /** Notes what is likely a mistake, but can run. */
  warning(node: Node | null, message: string, suggestion?: string): void {
    this.problemAt(node?.range?.[0] ?? 0, message, suggestion, 'warning');
  }

  /** Notes a mistake at a character of the file. */
  problemAt(offset: number, message: string, suggestion?: string, severity?: 'warning'): void {
    const { line, column } = this.position(offset);
    this.#problems.push({
      file: this.file,
      line,
      column,
      message,
      ...(severity === undefined ? {} : { severity }),
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }

  /** Notes a mistake at a character of a scalar's text. */
  problemInScalar(scalar: Scalar, index: number, message: string, suggestion?: string, severity?: 'warning'): void {
    this.problemAt(this.#offsetIn(scalar, index), message, suggestion, severity);
  }

  /** Where a line and column of a text of several lines stand in the file; the text's start where they cannot be told. */
  placeInScalar({ range, type }: Scalar, line: number, column: number): { line: number; column: number } {
    const start = this.position(range?.[0] ?? 0);
    if (type === Scalar.BLOCK_LITERAL) {
      const first = this.text
        .slice(this.#lines[start.line] ?? 0, range?.[1])
        .split('\n')
        .find((each) => each.trim() !== '');
      return { line: start.line + line, column: column + (first?.search(/\S/) ?? 0) };
    }
    if (line > 1 || type === Scalar.BLOCK_FOLDED) return start;
    const quote = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? 1 : 0;
    return { line: start.line, column: start.column + quote + column - 1 };
  }

  /** Where a character of a scalar's value stands in the file; the scalar's start where folding or escapes hide it. */
  #offsetIn({ range, type, value }: Scalar, index: number): number {
    const [start = 0, end = start] = range ?? [];
    const raw = this.text.slice(start, end);
    const text = String(value);
    const quote = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? 1 : 0;
    if (raw.slice(quote).startsWith(text.slice(0, index + 1))) return start + quote + index;
    // The same expression, counted from the beginning, is in the raw text too.
    const before = text.slice(0, index).split('${').length - 1;
    if (before === 0) return start;
    const opening = nthIndexOf(raw, '${', before);
    const within = index - nthIndexOf(text, '${', before);
    const same = raw.startsWith(text.slice(index - within, index), opening);
    return opening < 0 ? start : start + opening + (same ? within : 0);
  }

  /** Line and column of a character, both from 1. */
  position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#lines[low] ?? 0) + 1 };
  }

  /** Tells one text of the file from another. */
  get version(): string {
    return createHash('sha256').update(this.text).digest('hex').slice(0, 12);
  }

  line(node: Node): number {
    return this.position(node.range?.[0] ?? 0).line;
  }

  /** The entries of a map; keys that are no text are mistakes and left out. */
  entries(map: YAMLMap): Entry[] {
    return map.items.flatMap((pair) => this.#entry(pair as Pair<Node, Node | null>));
  }

  #entry({ key, value }: Pair<Node, Node | null>): Entry[] {
    // Numbers, true, false and null are texts here, as they are written.
    if (isScalar(key)) {
      const text = typeof key.value === 'string' ? key.value : key.source;
      if (text !== undefined && text !== '') return [{ key: text, keyNode: key, value }];
    }
    this.problem(key, 'this key is no text', 'put it in quotes');
    return [];
  }
}

/** A scalar's value as text; numbers and booleans as written in JSON. */
export function scalarText({ value }: Scalar): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Where a piece of text stands for the nth time, counted from 1; -1 when it does not. */
function nthIndexOf(text: string, piece: string, nth: number): number {
  let found = -1;
  for (let count = 0; count < nth; count += 1) {
    found = text.indexOf(piece, found + 1);
    if (found < 0) return -1;
  }
  return found;
}
