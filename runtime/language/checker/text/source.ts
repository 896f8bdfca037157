/** The text of a scenario file, with the mistakes found in it. */
import { createHash } from 'node:crypto';
import { type Node, type Pair, Scalar, type YAMLMap, isScalar } from 'yaml';
import type { Problem } from '../../problem.ts';
import { offsetInRaw } from './scalar-offset.ts';
import { TextPlaces } from './text-places.ts';

/** One `key: value` of a map. */
export interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
}

/** The text of a scenario file; collects the mistakes found in it. */
export class Source {
  readonly file: string;
  /** Offsets at which the lines start. */
  readonly #lines: readonly number[];
  readonly text: string;
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

  /** Notes a likely mistake that does not stop the scenario from running. */
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

  /** True when YAML folds the lines of a text into one. */
  isFolded({ range, type }: Scalar): boolean {
    return type !== Scalar.BLOCK_LITERAL && this.text.slice(range?.[0], range?.[1]).trimEnd().includes('\n');
  }

  /** Places of a text's characters in the file. */
  placesIn(scalar: Scalar): TextPlaces {
    const [start = 0, end = start] = scalar.range ?? [];
    return new TextPlaces(this.text.slice(start, end), scalar, this.position(start));
  }

  /** Offset in the file of a character of a scalar's value; the scalar's start when it cannot be found. */
  #offsetIn(scalar: Scalar, index: number): number {
    const [start = 0, end = start] = scalar.range ?? [];
    return start + (offsetInRaw(this.text.slice(start, end), scalar, index) ?? 0);
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

  /** The character at a line and a column. */
  offset(line: number, column: number): number {
    return (this.#lines[line - 1] ?? 0) + column - 1;
  }

  /** A key that identifies a text of the file. */
  get version(): string {
    return createHash('sha256').update(this.text).digest('hex').slice(0, 12);
  }

  line(node: Node): number {
    return this.position(node.range?.[0] ?? 0).line;
  }

  /** The entries of a map. A key that is not a text is a mistake and left out. */
  entries(map: YAMLMap): Entry[] {
    return map.items.flatMap((pair) => this.#entry(pair as Pair<Node, Node | null>));
  }

  #entry({ key, value }: Pair<Node, Node | null>): Entry[] {
    // Numbers, true, false and null as keys are texts, as written.
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
