/**
 * Parses the subset of regular expressions on which PostgreSQL (manual, "POSIX Regular Expressions", ARE) and
 * JavaScript agree and which matches in linear time: no back-references, no look-around. `.` is any character, `^` and
 * `$` are the ends of the text; `\d \w \s \b` are ASCII.
 */
import {
  ANY,
  complement,
  DIGIT,
  LAST_CODE_POINT,
  normalise,
  type Range,
  type Regex,
  SPACE,
  WORD,
  withBothCases,
} from './ast.ts';

/** An invalid pattern; the message is the predicate of "the pattern ...". */
export class RegexSyntaxError extends Error {
  override name = 'RegexSyntaxError';
}

/** PostgreSQL's own bound (RE_DUP_MAX). */
const MAX_REPEAT = 255;
/** Largest number of automaton states, with repetitions expanded. */
const MAX_SIZE = 1000;
const MAX_NESTING = 32;

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };
const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGIT,
  w: WORD,
  s: SPACE,
  D: complement(DIGIT),
  W: complement(WORD),
  S: complement(SPACE),
};

/** @throws RegexSyntaxError */
export function parseRegex(pattern: string, ignoreCase: boolean): Regex {
  const tree = new Parser(pattern, ignoreCase).parse();
  if (sizeOf(tree) > MAX_SIZE) throw new RegexSyntaxError('repeats too much; use smaller bounds');
  return tree;
}

function sizeOf(regex: Regex): number {
  switch (regex.kind) {
    case 'set':
    case 'assertion':
      return 1;
    case 'sequence':
    case 'choice':
      return regex.items.reduce((sum, item) => sum + sizeOf(item), 1);
    case 'repeat':
      return sizeOf(regex.item) * Math.max(1, regex.max === Infinity ? regex.min + 1 : regex.max) + 1;
    default:
      return regex satisfies never;
  }
}

class Parser {
  readonly #characters: readonly string[];
  readonly #ignoreCase: boolean;
  #position = 0;
  #depth = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#characters = Array.from(pattern);
    this.#ignoreCase = ignoreCase;
  }

  parse(): Regex {
    const regex = this.#choice();
    if (this.#position < this.#characters.length) throw new RegexSyntaxError('has a ")" without "("');
    return regex;
  }

  get #next(): string | undefined {
    return this.#characters[this.#position];
  }

  #take(text: string): boolean {
    const found = this.#characters.slice(this.#position, this.#position + text.length).join('') === text;
    if (found) this.#position += text.length;
    return found;
  }

  #choice(): Regex {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) throw new RegexSyntaxError(`nests more than ${MAX_NESTING} groups`);
    const items = [this.#sequence()];
    while (this.#take('|')) items.push(this.#sequence());
    this.#depth -= 1;
    return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'choice', items };
  }

  #sequence(): Regex {
    const items: Regex[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') items.push(this.#repeated());
    return { kind: 'sequence', items };
  }

  #repeated(): Regex {
    const item = this.#atom();
    const bounds = this.#quantifier();
    if (bounds === undefined) return item;
    if (item.kind === 'assertion') throw new RegexSyntaxError('repeats an anchor');
    // Lazy and greedy quantifiers match the same texts.
    this.#take('?');
    if (this.#quantifier() !== undefined) throw new RegexSyntaxError('has two quantifiers in a row');
    return { kind: 'repeat', item, ...bounds };
  }

  #quantifier(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    if (!this.#take('{')) return undefined;
    const end = this.#characters.indexOf('}', this.#position);
    const text = this.#characters.slice(this.#position, end === -1 ? undefined : end).join('');
    const match = /^(\d{1,3})(?:(,)(\d{1,3})?)?$/.exec(text);
    if (end === -1 || match === null) throw new RegexSyntaxError('has a "{" that begins no bounds; write \\{');
    this.#position = end + 1;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3]);
    if (min > max) throw new RegexSyntaxError(`has the bounds {${text}} in the wrong order`);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw new RegexSyntaxError(`repeats more than ${MAX_REPEAT} times`);
    }
    return { min, max };
  }

  #atom(): Regex {
    const character = this.#next ?? '';
    this.#position += 1;
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#bracket();
      case '.':
        return ANY;
      case '^':
        return { kind: 'assertion', of: 'start' };
      case '$':
        return { kind: 'assertion', of: 'end' };
      case '*':
      case '+':
      case '?':
      case '{':
        throw new RegexSyntaxError(`has a "${character}" with nothing before it to repeat`);
      case '\\':
        return this.#escape();
      default:
        return this.#set([single(character)]);
    }
  }

  #group(): Regex {
    if (this.#take('?')) {
      if (!this.#take(':')) throw new RegexSyntaxError('has a "(?" group other than "(?:", which is not supported');
    }
    const regex = this.#choice();
    if (!this.#take(')')) throw new RegexSyntaxError('has a "(" without ")"');
    return regex.kind === 'assertion' ? { kind: 'sequence', items: [regex] } : regex;
  }

  #escape(): Regex {
    if (this.#next === 'b' || this.#next === 'B') {
      const of = this.#next === 'b' ? 'word-boundary' : 'no-word-boundary';
      this.#position += 1;
      return { kind: 'assertion', of };
    }
    const ranges = this.#escapedClass();
    if (ranges !== undefined) return this.#set(ranges);
    const codePoint = this.#escapedCodePoint();
    return this.#set([[codePoint, codePoint]]);
  }

  #escapedClass(): readonly Range[] | undefined {
    const ranges = CLASSES[this.#next ?? ''];
    if (ranges !== undefined) this.#position += 1;
    return ranges;
  }

  #escapedCodePoint(): number {
    const character = this.#next;
    this.#position += 1;
    if (character === undefined) throw new RegexSyntaxError('ends with a backslash');
    const control = CONTROLS[character];
    if (control !== undefined) return control;
    if (character === 'x') return this.#hexadecimal(2);
    if (character === 'u') return this.#hexadecimal(4);
    if (/[0-9]/.test(character)) throw new RegexSyntaxError('has a back-reference, which is not supported');
    if (/[A-Za-z]/.test(character)) throw new RegexSyntaxError(`has the escape \\${character}, which is not supported`);
    return character.codePointAt(0) ?? 0;
  }

  #hexadecimal(digits: number): number {
    const text = this.#characters.slice(this.#position, this.#position + digits).join('');
    if (text.length !== digits || !/^[0-9A-Fa-f]+$/.test(text)) {
      throw new RegexSyntaxError(`has an escape without its ${digits} hexadecimal digits`);
    }
    this.#position += digits;
    return Number.parseInt(text, 16);
  }

  #bracket(): Regex {
    const negated = this.#take('^');
    const ranges: Range[] = [];
    if (this.#next === ']') throw new RegexSyntaxError('has an empty "[]"; write \\] for the bracket itself');
    while (!this.#take(']')) ranges.push(...this.#bracketItem());
    const folded = this.#ignoreCase ? withBothCases(ranges) : normalise(ranges);
    return { kind: 'set', ranges: negated ? complement(folded) : folded };
  }

  #bracketItem(): readonly Range[] {
    const from = this.#bracketEnd();
    if (typeof from !== 'number') return from;
    if (this.#next !== '-' || this.#characters[this.#position + 1] === ']') return [[from, from]];
    this.#position += 1;
    const to = this.#bracketEnd();
    if (typeof to !== 'number') throw new RegexSyntaxError('has a range that ends in a class');
    if (to < from) throw new RegexSyntaxError('has a range in the wrong order');
    return [[from, to]];
  }

  /** A code point, or the ranges of a class. */
  #bracketEnd(): number | readonly Range[] {
    const character = this.#next;
    this.#position += 1;
    if (character === undefined) throw new RegexSyntaxError('has a "[" without "]"');
    if (character === '\\') return this.#escapedClass() ?? this.#escapedCodePoint();
    const after = this.#next;
    if (character === '[' && (after === ':' || after === '.' || after === '=')) {
      throw new RegexSyntaxError(`has a "[${after}" class, which is not supported; write \\d, \\w or \\s`);
    }
    return character.codePointAt(0) ?? 0;
  }

  #set(ranges: readonly Range[]): Regex {
    return { kind: 'set', ranges: this.#ignoreCase ? withBothCases(ranges) : normalise(ranges) };
  }
}

function single(character: string): Range {
  const codePoint = character.codePointAt(0) ?? LAST_CODE_POINT;
  return [codePoint, codePoint];
}
