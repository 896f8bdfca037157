/** Places in a file of the characters of a text. */
import type { Scalar } from 'yaml';
import { offsetInRaw, type WrittenText } from './scalar-offset.ts';

/** A line and a column of a file, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Maps characters of a text in a YAML file to places in that file, for every style of scalar. */
export class TextPlaces {
  /** The file's line at which the text begins. */
  readonly line: number;
  readonly #raw: string;
  readonly #scalar: WrittenText;
  readonly #start: Position;

  /**
   * @param raw the text as it is written
   * @param start the place of its first character
   */
  constructor(raw: string, { type, value }: Scalar, start: Position) {
    this.#raw = raw;
    this.#scalar = { type, value };
    this.#start = start;
    this.line = this.of(0).line;
  }

  /** The place of a line and a column of the text, all counted from 1; the text's start when it cannot be found. */
  at(line: number, column: number): Position {
    const before = String(this.#scalar.value)
      .split('\n')
      .slice(0, line - 1);
    return this.of(before.reduce((length, each) => length + each.length + 1, 0) + column - 1);
  }

  /** The same for the number of a character, from 0. */
  of(index: number): Position {
    const before = this.#raw.slice(0, offsetInRaw(this.#raw, this.#scalar, index) ?? 0).split('\n');
    const { line, column } = this.#start;
    const last = before.at(-1)?.length ?? 0;
    return before.length === 1 ? { line, column: column + last } : { line: line + before.length - 1, column: last + 1 };
  }
}
