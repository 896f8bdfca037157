import { Scalar } from 'yaml';

/** The needed fields of a YAML scalar. */
export interface WrittenText {
  readonly type?: Scalar['type'] | undefined;
  readonly value: unknown;
}

/** Characters of an escape in double quotes after its backslash (YAML 1.2, 5.7); all others have one. */
const ESCAPES: Readonly<Record<string, number>> = { x: 3, u: 5, U: 9 };
const BLANK = /\s/;

/** The position that the last lookup in a scalar reached. */
interface Reached {
  readonly raw: string;
  readonly index: number;
  readonly at: number;
  readonly done: number;
}

/** Cache of the last lookup: a script with thousands of mistakes needs thousands of lookups, mostly in order. */
const reached = new WeakMap<WrittenText, Reached>();

/**
 * Maps a character of a scalar's value to its place in the raw text. The two differ by quotes, escapes, indentation
 * and folded lines.
 * @param raw the scalar as it is written
 * @returns an offset in `raw`; undefined when value and raw text do not match
 */
export function offsetInRaw(raw: string, scalar: WrittenText, index: number): number | undefined {
  const { type, value } = scalar;
  const text = String(value);
  const before = reached.get(scalar);
  const { at: begin, done: sooner } =
    before !== undefined && before.index <= index && before.raw === raw ? before : { at: beginOf(raw, type), done: 0 };
  let at = begin;
  let noted = false;
  for (let done = sooner; at < raw.length; ) {
    if (done >= index && !noted) {
      noted = true;
      reached.set(scalar, { raw, index, at, done });
    }
    if (done >= text.length) return at;
    const character = raw[at] ?? '';
    if (type === Scalar.QUOTE_DOUBLE && character === '\\') {
      const escaped = raw[at + 1] ?? '';
      if (done >= index && escaped !== '\n') return at;
      // A backslash at the end of a line continues it in the next one.
      if (escaped !== '\n') done += escaped === 'U' ? ((text.codePointAt(done) ?? 0) > 0xffff ? 2 : 1) : 1;
      at += 1 + (ESCAPES[escaped] ?? 1);
      if (escaped === '\n') while (BLANK.test(raw[at] ?? '')) at += 1;
    } else if (character === text[done]) {
      if (done >= index) return at;
      done += 1;
      at += type === Scalar.QUOTE_SINGLE && character === "'" ? 2 : 1;
    } else if (BLANK.test(character)) {
      // Indentation, or a line break that was folded to a blank.
      if (done >= index && BLANK.test(text[index] ?? '')) return at;
      if (character === '\n' && BLANK.test(text[done] ?? '')) done += 1;
      at += 1;
    } else return undefined;
  }
  return at;
}

/** Start of the value: behind a quote, or below the line with `|` or `>`. */
function beginOf(raw: string, type: Scalar['type']): number {
  if (type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED) return raw.indexOf('\n') + 1;
  return type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? 1 : 0;
}
