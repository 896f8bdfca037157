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

/** The text of a scenario file, which collects the mistakes found in it. */
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

  /** Whether the lines of a text are one, because of how it is written. */
  isFolded({ range, type }: Scalar): boolean {
    return type !== Scalar.BLOCK_LITERAL && this.text.slice(range?.[0], range?.[1]).trimEnd().includes('\n');
  }

  /** Where the characters of a text stand in the file. */
  placesIn(scalar: Scalar): TextPlaces {
    const [start = 0, end = start] = scalar.range ?? [];
    return new TextPlaces(this.text.slice(start, end), scalar, this.position(start));
  }

  /** Where a character of a scalar's value stands in the file; the scalar's start where that cannot be told. */
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
