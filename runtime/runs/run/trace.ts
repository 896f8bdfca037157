import type { ScriptUsage } from '../../sandbox/index.ts';
import type { Answer } from '../call-values.ts';
import type { Value } from '../../language/index.ts';
import type { RunError } from './outcome.ts';

/** One block of a run. Exit and duration are absent while it runs. */
export interface TraceEntry {
  /** Counts from 1. */
  readonly step: number;
  readonly branch: 'main' | 'finally';
  readonly block: string;
  readonly component: string;
  /** What it is about: a sound, a number, a class of the data model. */
  readonly subject?: string;
  /** Keys would have ended what it played. */
  readonly listened?: true;
  /** What was asked of others: `METHOD URL`, or the name of an operation. */
  readonly request?: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly milliseconds?: number;
  /** `interrupted` when the block was cut short. */
  readonly exit?: string;
  readonly result?: Readonly<Record<string, Value>>;
  /** Variables this block changed, with their new values. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly answers?: readonly TracedAnswer[];
  /** Ids of the runs that this block started. */
  readonly runs?: readonly string[];
  /** What interrupted the block, e.g. `dtmf 0`. */
  readonly interrupt?: string;
  /** The further call it was for, by its name. */
  readonly leg?: string;
  /** What the module was told of meanwhile, e.g. `dtmf 0`. */
  readonly told?: readonly ToldEvent[];
  /** What the script of the block used. */
  readonly usage?: ScriptUsage;
  /** What the block wrote to the log. */
  readonly log?: readonly string[];
  readonly error?: Omit<RunError, 'block'>;
}

/** A SIP answer that came because of this block, possibly after it was done. */
export interface TracedAnswer {
  readonly at: number;
  readonly party: string;
  /** The status line. */
  readonly line: string;
}

/** Something that the other party did by itself. */
export interface ToldEvent {
  readonly at: number;
  readonly what: string;
}

type Draft = { -readonly [Key in keyof TraceEntry]: TraceEntry[Key] };

/** What a module was told of during one function. */
const MAX_TOLD = 50;

/** Log lines kept of one block. */
const MAX_LOG_LINES = 50;

/** Characters shown of what a block is about. */
export const MAX_SUBJECT_LENGTH = 120;

/** Characters kept of one value: a trace is kept for long, and there are many. */
const MAX_VALUE_LENGTH = 4096;

/** Results and variables kept of one entry. */
const MAX_VALUES = 200;

/** An exit that no component has: the block was cut short. */
export const INTERRUPTED = 'interrupted';

/** What a run did, readable while it runs. Keeps the latest entries. */
export class Trace {
  readonly #limit: number;
  readonly #entries: Draft[] = [];
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Blocks run so far, the ones no longer kept included. */
  get steps(): number {
    return this.#steps;
  }

  /** A copy of the entries kept, oldest first. */
  entries(): readonly TraceEntry[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Notes what a module was told of while the latest of its functions was in progress, or since. */
  told(at: number, what: string): void {
    const latest = this.#entries.at(-1);
    const told = latest?.told ?? [];
    if (latest && told.length < MAX_TOLD) latest.told = [...told, { at, what }];
  }

  begin(entry: Omit<TraceEntry, 'step'>): BlockTrace {
    this.#steps += 1;
    const draft: Draft = { step: this.#steps, ...entry };
    this.#entries.push(draft);
    if (this.#entries.length > this.#limit) this.#entries.shift();
    return new BlockTrace(draft);
  }
}

/** The entry of one block, while things happen to it. */
export class BlockTrace {
  readonly #entry: Draft;

  constructor(entry: Draft) {
    this.#entry = entry;
  }

  answered(at: number, party: string, answer: Answer): void {
    this.#entry.answers = [...(this.#entry.answers ?? []), { at, party, line: answer.line }];
  }

  started(run: string): void {
    this.#entry.runs = [...(this.#entry.runs ?? []), run];
  }

  used(usage: ScriptUsage): void {
    this.#entry.usage = usage;
  }

  about(subject: string): void {
    this.#entry.subject = subject.slice(0, MAX_SUBJECT_LENGTH);
  }

  ofLeg(leg: string): void {
    this.#entry.leg = leg.slice(0, MAX_SUBJECT_LENGTH);
  }

  listened(): void {
    this.#entry.listened = true;
  }

  requested(request: string): void {
    this.#entry.request = request.slice(0, MAX_VALUE_LENGTH);
  }

  interrupted(by: string): void {
    this.#entry.interrupt = by;
  }

  /** Results known before the block is done. */
  result(fields: Readonly<Record<string, Value>>): void {
    this.#entry.result = { ...this.#entry.result, ...brief(fields) };
  }

  logged(line: string): void {
    const lines = this.#entry.log ?? [];
    if (lines.length < MAX_LOG_LINES) this.#entry.log = [...lines, line];
  }

  end(now: number, outcome: Pick<TraceEntry, 'exit' | 'result' | 'variables' | 'error'>): void {
    const { result, variables, error } = outcome;
    Object.assign(this.#entry, outcome, { milliseconds: now - this.#entry.start });
    // What a script asked for may be in it, of any length.
    if (error && error.message.length > MAX_VALUE_LENGTH)
      this.#entry.error = { ...error, message: `${error.message.slice(0, MAX_VALUE_LENGTH)}…` };
    if (result) this.#entry.result = brief(result);
    if (variables) this.#entry.variables = brief(variables);
  }
}

/** Values as they are, but for those that are too large to keep, and those that are too many. */
function brief(values: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const entries = Object.entries(values);
  if (entries.length <= MAX_VALUES && !entries.some(([, value]) => isLarge(value))) return values;
  return Object.fromEntries(
    entries.slice(0, MAX_VALUES).map(([name, value]) => [name, isLarge(value) ? '(too large for the trace)' : value]),
  );
}

function isLarge(value: Value): boolean {
  if (typeof value === 'string') return value.length > MAX_VALUE_LENGTH;
  return typeof value === 'object' && value !== null && JSON.stringify(value).length > MAX_VALUE_LENGTH;
}
