/** Traces of runs. */
import type { ScriptUsage } from '../../sandbox/index.ts';
import type { Answer } from '../call-values.ts';
import type { Value } from '../../language/index.ts';
import type { RunError } from './outcome.ts';
import { Sensitive, withHidden } from './sensitive.ts';

/** One block of a run. Exit and duration are absent while it runs. */
export interface TraceEntry {
  /** Counts from 1. */
  readonly step: number;
  readonly branch: 'main' | 'finally';
  readonly block: string;
  readonly component: string;
  /** Its subject: a sound, a number, a class of the data model. */
  readonly subject?: string;
  /** Keys could interrupt its playback. */
  readonly listened?: true;
  /** Its outside request: `METHOD URL`, or the name of an operation. */
  readonly request?: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly milliseconds?: number;
  /** The taken exit; `interrupted` when the block was cut short. */
  readonly exit?: string;
  readonly result?: Readonly<Record<string, Value>>;
  /** Its answer is sensitive, and not in the result. */
  readonly sensitive?: true;
  /** Variables changed by this block, with their new values. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly answers?: readonly TracedAnswer[];
  /** Ids of the runs started by this block. */
  readonly runs?: readonly string[];
  /** The interrupt that cut the block short, e.g. `dtmf 0`. */
  readonly interrupt?: string;
  /** Name of its further call. */
  readonly leg?: string;
  /** Events received by the module meanwhile, e.g. `dtmf 0`. */
  readonly told?: readonly ToldEvent[];
  /** Resources used by the block's script. */
  readonly usage?: ScriptUsage;
  /** Log lines of the block. */
  readonly log?: readonly string[];
  readonly error?: Omit<RunError, 'block'>;
}

/** A SIP answer to this block, possibly after its end. */
export interface TracedAnswer {
  readonly at: number;
  readonly party: string;
  /** The status line. */
  readonly line: string;
}

/** An unrequested action of the other party. */
export interface ToldEvent {
  readonly at: number;
  readonly what: string;
}

type Draft = { -readonly [Key in keyof TraceEntry]: TraceEntry[Key] };

/** Limit of kept events of a module during one function. */
const MAX_TOLD = 50;

/** Limit of kept log lines of one block. */
const MAX_LOG_LINES = 50;
/** Stands in the place of the lines of a block over the limit. */
const MORE_LINES = `(the trace keeps ${MAX_LOG_LINES} lines of a block; the log of the node has the others)`;

/** Limit of a block's subject, in characters. */
export const MAX_SUBJECT_LENGTH = 120;

/** Limit of one value, in characters: many traces are kept for long. */
const MAX_VALUE_LENGTH = 4096;

/** Limit of kept results and variables of one entry. */
const MAX_VALUES = 200;

/** The exit of a block that was cut short; no component has it. */
export const INTERRUPTED = 'interrupted';

/** The trace of a run, readable while it runs. Keeps the latest entries. */
export class Trace {
  readonly #limit: number;
  readonly #entries: Draft[] = [];
  readonly #sensitive: Sensitive;
  readonly #onBegin: ((entry: TraceEntry) => void) | undefined;
  #steps = 0;

  /** @param sensitive values that no entry shows @param onBegin hears of each new entry */
  constructor(limit: number, sensitive: Sensitive = new Sensitive(), onBegin?: (entry: TraceEntry) => void) {
    this.#limit = limit;
    this.#sensitive = sensitive;
    this.#onBegin = onBegin;
  }

  /** Number of blocks run so far, with those no longer kept. */
  get steps(): number {
    return this.#steps;
  }

  /** Goes on with the trace of another node. */
  restore(entries: readonly TraceEntry[], steps: number): void {
    this.#entries.push(...entries.map((entry) => ({ ...entry })));
    this.#steps = steps;
  }

  /** A copy of the kept entries, oldest first. */
  entries(): readonly TraceEntry[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** The entry of a block that began at another node, or a new one when it is not kept any more. */
  reopen(step: number, entry: Omit<TraceEntry, 'step'>): BlockTrace {
    const draft = this.#entries.find((each) => each.step === step && each.exit === undefined);
    return draft === undefined ? this.begin(entry) : new BlockTrace(draft, this.#sensitive);
  }

  /** Adds an event of a module to the entry of its latest function. */
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
    this.#onBegin?.(draft);
    return new BlockTrace(draft, this.#sensitive);
  }
}

/** The trace entry of one block in progress. */
export class BlockTrace {
  readonly #entry: Draft;
  readonly #sensitive: Sensitive;
  #hidden: ReadonlySet<string> = new Set();

  constructor(entry: Draft, sensitive: Sensitive) {
    this.#entry = entry;
    this.#sensitive = sensitive;
  }

  get step(): number {
    return this.#entry.step;
  }

  /** Result fields that the trace does not show. */
  hides(fields: readonly string[]): void {
    this.#hidden = new Set(fields);
  }

  answered(at: number, party: string, answer: Answer): void {
    const shown = { at, party: this.#sensitive.text(party), line: this.#sensitive.text(answer.line) };
    this.#entry.answers = [...(this.#entry.answers ?? []), shown];
  }

  started(run: string): void {
    this.#entry.runs = [...(this.#entry.runs ?? []), run];
  }

  used(usage: ScriptUsage): void {
    this.#entry.usage = usage;
  }

  about(subject: string): void {
    this.#entry.subject = this.#sensitive.text(subject).slice(0, MAX_SUBJECT_LENGTH);
  }

  ofLeg(leg: string): void {
    this.#entry.leg = leg.slice(0, MAX_SUBJECT_LENGTH);
  }

  listened(): void {
    this.#entry.listened = true;
  }

  requested(request: string): void {
    this.#entry.request = this.#sensitive.text(request).slice(0, MAX_VALUE_LENGTH);
  }

  interrupted(by: string): void {
    this.#entry.interrupt = by;
  }

  /** Results that are known before the block's end. */
  result(fields: Readonly<Record<string, Value>>): void {
    this.#entry.result = { ...this.#entry.result, ...this.#shown(fields) };
  }

  logged(line: string): void {
    const lines = this.#entry.log ?? [];
    if (lines.length < MAX_LOG_LINES) this.#entry.log = [...lines, this.#sensitive.text(line)];
    else if (lines.length === MAX_LOG_LINES) this.#entry.log = [...lines, MORE_LINES];
  }

  end(now: number, outcome: Pick<TraceEntry, 'exit' | 'result' | 'variables' | 'error'>): void {
    const { result, variables } = outcome;
    const error = this.#sensitive.value(outcome.error);
    Object.assign(this.#entry, outcome, { milliseconds: now - this.#entry.start });
    // Requests of a script may have any length.
    if (error && error.message.length > MAX_VALUE_LENGTH)
      this.#entry.error = { ...error, message: `${error.message.slice(0, MAX_VALUE_LENGTH)}…` };
    else if (error) this.#entry.error = error;
    if (result) this.#entry.result = this.#shown(result);
    if (variables) this.#entry.variables = brief(this.#sensitive.value(variables));
  }

  #shown(fields: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
    const shown = withHidden(fields, this.#hidden);
    if (Object.entries(shown).some(([name, value]) => value !== fields[name])) this.#entry.sensitive = true;
    return brief(this.#sensitive.value(shown));
  }
}

/** The values without those that are too large or too many to keep. */
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
