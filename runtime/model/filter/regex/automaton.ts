/**
 * Matches in time linear in the text: a Thompson automaton whose state sets become a deterministic automaton on demand
 * (Cox, "Regular Expression Matching Can Be Simple And Fast"). V8's own linear engine supports neither the flags `i`
 * and `u` nor bounds.
 */
import { isWord, type Range, type Regex, WORD } from './ast.ts';

type Instruction =
  | { readonly kind: 'set'; readonly ranges: readonly Range[] }
  | { readonly kind: 'assertion'; readonly of: 'start' | 'end' | 'word-boundary' | 'no-word-boundary' }
  | { readonly kind: 'split'; readonly targets: number[] }
  | { readonly kind: 'match' };

/** Context before a position. */
type Before = 'nothing' | 'word' | 'other';

interface State {
  /** Reached instructions, before assertions are followed: those depend on the next character. */
  readonly instructions: readonly number[];
  readonly before: Before;
  /** Next state by character class; the last entry is the end of the text. */
  readonly next: (State | 'match' | undefined)[];
}

const CACHED_STATES = 1000;

/** Compiles a tree to a test for an occurrence anywhere in a text. */
export function compileRegex(regex: Regex): (text: string) => boolean {
  const automaton = new Automaton(program(regex));
  return (text) => automaton.test(text);
}

function program(regex: Regex): Instruction[] {
  const instructions: Instruction[] = [];
  const emit = (node: Regex): void => {
    switch (node.kind) {
      case 'set':
      case 'assertion':
        instructions.push(node);
        break;
      case 'sequence':
        node.items.forEach(emit);
        break;
      case 'choice':
        emitChoice(node.items);
        break;
      case 'repeat':
        emitRepeat(node.item, node.min, node.max);
        break;
      default:
        node satisfies never;
    }
  };
  const split = (): number[] => {
    const targets: number[] = [];
    instructions.push({ kind: 'split', targets });
    return targets;
  };
  const emitChoice = (items: readonly Regex[]): void => {
    const entry = split();
    const exits = items.map((item) => {
      entry.push(instructions.length);
      emit(item);
      return split();
    });
    for (const exit of exits) exit.push(instructions.length);
  };
  const emitRepeat = (item: Regex, min: number, max: number): void => {
    for (let count = 0; count < min; count += 1) emit(item);
    if (max === Infinity) {
      const loop = instructions.length;
      const entry = split();
      entry.push(instructions.length);
      emit(item);
      split().push(loop);
      entry.push(instructions.length);
      return;
    }
    const exits: number[][] = [];
    for (let count = min; count < max; count += 1) {
      const entry = split();
      entry.push(instructions.length);
      exits.push(entry);
      emit(item);
    }
    for (const exit of exits) exit.push(instructions.length);
  };
  emit(regex);
  instructions.push({ kind: 'match' });
  return instructions;
}

class Automaton {
  readonly #program: readonly Instruction[];
  /** First code points of the program's character classes. */
  readonly #bounds: readonly number[];
  readonly #classOfByte = new Uint16Array(256);
  #states = new Map<string, State>();
  #start: State;

  constructor(instructions: readonly Instruction[]) {
    this.#program = instructions;
    const ranges = instructions.flatMap((instruction) => (instruction.kind === 'set' ? instruction.ranges : []));
    const bounds = [...ranges, ...WORD].flatMap(([from, to]) => [from, to + 1]);
    this.#bounds = [...new Set([0, ...bounds])].toSorted((a, b) => a - b);
    for (let byte = 0; byte < 256; byte += 1) this.#classOfByte[byte] = this.#search(byte);
    this.#start = this.#state([0], 'nothing');
  }

  test(text: string): boolean {
    let state = this.#start;
    for (let index = 0; index < text.length; index += 1) {
      let codePoint = text.charCodeAt(index);
      if (codePoint >= 0xd800 && codePoint < 0xdc00) {
        codePoint = text.codePointAt(index) ?? codePoint;
        if (codePoint > 0xffff) index += 1;
      }
      const next = this.#step(state, this.#classOf(codePoint));
      if (next === 'match') return true;
      state = next;
    }
    return this.#step(state, this.#bounds.length) === 'match';
  }

  #classOf(codePoint: number): number {
    return codePoint < 256 ? (this.#classOfByte[codePoint] ?? 0) : this.#search(codePoint);
  }

  /** Index of the last bound not above the code point. */
  #search(codePoint: number): number {
    let low = 0;
    let high = this.#bounds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#bounds[middle] ?? Infinity) <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #step(state: State, characterClass: number): State | 'match' {
    return (state.next[characterClass] ??= this.#compute(state, characterClass));
  }

  #compute({ instructions, before }: State, characterClass: number): State | 'match' {
    // The first character represents its class; no character represents the end.
    const character = this.#bounds[characterClass];
    const closure = this.#closure(instructions, before, character);
    if (closure === 'match') return 'match';
    // A match may begin at every position, hence instruction 0.
    const reached = new Set([0]);
    if (character !== undefined) {
      for (const index of closure) {
        const instruction = this.#program[index];
        if (instruction?.kind === 'set' && includes(instruction.ranges, character)) reached.add(index + 1);
      }
    }
    return this.#state([...reached], character !== undefined && isWord(character) ? 'word' : 'other');
  }

  #closure(from: readonly number[], before: Before, character: number | undefined): ReadonlySet<number> | 'match' {
    const seen = new Set<number>();
    const pending = [...from];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const instruction = this.#program[index];
      if (instruction === undefined || instruction.kind === 'set') continue;
      if (instruction.kind === 'match') return 'match';
      if (instruction.kind === 'split') pending.push(...instruction.targets);
      else if (holds(instruction.of, before, character)) pending.push(index + 1);
    }
    return seen;
  }

  #state(instructions: readonly number[], before: Before): State {
    const sorted = instructions.toSorted((a, b) => a - b);
    const key = `${before} ${sorted.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= CACHED_STATES) {
      // Starts over, which bounds the memory of a pattern.
      this.#states = new Map();
      this.#start = { ...this.#start, next: [] };
    }
    const state: State = { instructions: sorted, before, next: [] };
    this.#states.set(key, state);
    return state;
  }
}

function includes(ranges: readonly Range[], codePoint: number): boolean {
  return ranges.some(([from, to]) => codePoint >= from && codePoint <= to);
}

function holds(
  assertion: 'start' | 'end' | 'word-boundary' | 'no-word-boundary',
  before: Before,
  character: number | undefined,
): boolean {
  if (assertion === 'start') return before === 'nothing';
  if (assertion === 'end') return character === undefined;
  const isBoundary = (before === 'word') !== (character !== undefined && isWord(character));
  return isBoundary === (assertion === 'word-boundary');
}
