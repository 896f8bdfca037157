/** Records a script's inputs for repetition. */
import { hash } from 'node:crypto';
import { REPETITION, type RepetitionLimit } from '../repetition.ts';

/** One turn of a script: its input and output. */
export interface JournalTurn {
  /** Milliseconds since the epoch: the script's clock in this turn. */
  readonly now: number;
  readonly jobs: readonly string[];
  readonly outputHash: string;
}

/**
 * All inputs of a script, which reproduce its state: its clock and random numbers are inputs too, and nothing else can
 * differ.
 */
export class Journal {
  #turns: JournalTurn[];
  #length = 0;
  #exceeded: RepetitionLimit | undefined;

  /** @param turns of the script so far */
  constructor(turns: readonly JournalTurn[] = []) {
    this.#turns = [...turns];
    for (const { jobs } of turns) this.#count(jobs);
  }

  /** True while it is complete since the start. */
  get complete(): boolean {
    return this.#exceeded === undefined;
  }

  /** The limit above which repeating everything would cost more than keeping the isolate. */
  get exceeded(): RepetitionLimit | undefined {
    return this.#exceeded;
  }

  get turns(): readonly JournalTurn[] {
    return this.#turns;
  }

  /** @param text output of the script */
  record(now: number, jobs: readonly string[], text: string): void {
    if (this.#exceeded !== undefined) return;
    this.#count(jobs);
    if (this.#length > REPETITION.characters) this.#exceeded = 'characters';
    else if (this.#turns.length >= REPETITION.turns) this.#exceeded = 'turns';
    if (this.#exceeded !== undefined) this.#turns = [];
    else this.#turns.push({ now, jobs, outputHash: digest(text) });
  }

  #count(jobs: readonly string[]): void {
    for (const job of jobs) this.#length += job.length;
  }
}

/** True when a repetition had the same output. */
export function isSame({ outputHash }: JournalTurn, text: string): boolean {
  return outputHash === digest(text);
}

function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
