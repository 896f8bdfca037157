/** Finds the caller's steps in a trace. */
import path from 'node:path';
import { INTERRUPTED, MAX_SUBJECT_LENGTH, type RunOutcome, type ToldEvent, type TraceEntry } from '../../runs/index.ts';
import { CHARACTER_MS, PROMPT_MS } from '../simulation/simulated-party.ts';
import { THINK_MS } from '../simulation/turns.ts';
import { parseDuration } from '../../language/index.ts';
import { keysOf, listens } from './called-phones.ts';
import { LONG_MS } from './outside-answers.ts';
import { greeted, recorded, said, type Step } from './speech.ts';

/** Components that play a prompt and then wait for an answer. */
const ASKS: ReadonlySet<string> = new Set(['collect', 'menu', 'recognise']);
/** Components without a duration in tests. */
const AT_ONCE: ReadonlySet<string> = new Set(
  'answer bindings if leg_dtmf leg_notify log loop model_list model_read model_write publish report return ring script send set stop switch terminate webhook'.split(
    ' ',
  ),
);
/** Components that end calls, also the scenario's own. */
const ENDS_CALLS: ReadonlySet<string> = new Set(['terminate', 'operation.delete']);

/**
 * The caller's steps, in order.
 * @param main the entries of the time in which the scenario had the call
 * @param outcome the run's outcome; undefined while it runs
 */
export function callerSteps(main: readonly TraceEntry[], outcome: RunOutcome | undefined): Step[] {
  const steps: Step[] = [];
  const by = hangsUp(main, outcome?.reason);
  // Time of the step before, and the entries since.
  let since = main[0]?.start ?? 0;
  let done = 0;
  for (const [index, entry] of main.entries()) {
    const when = (at: number): When => ({ at, since, entries: main.slice(done, index + 1) });
    for (const { at, what } of entry.told ?? []) {
      if (kindOf(what) === 'hangup' && !by) continue;
      steps.push(...interrupted(what, when(at), entry));
      [since, done] = [at, index];
    }
    if (entry.interrupt !== undefined && kindOf(entry.interrupt) === 'hangup' && !by) continue;
    const deeds = entry.interrupt === undefined ? deed(entry) : interrupted(entry.interrupt, when(endOf(entry)), entry);
    if (deeds.length === 0) continue;
    steps.push(...deeds);
    [since, done] = [endOf(entry), index + 1];
  }
  if (!by || steps.some((step) => typeof step === 'object' && 'hangs_up' in step)) return steps;
  return [...steps, ...hangUp(main, { since, entries: main.slice(done) })];
}

/** True when the caller ended the call, or another party that the test's caller replaces. */
function hangsUp(main: readonly TraceEntry[], reason: string | undefined): boolean {
  if (reason === undefined) return main.some(({ interrupt }) => interrupt?.startsWith('hangup') === true);
  if (reason.startsWith('opponent') || reason.startsWith('taken')) return true;
  return reason.startsWith('external') && !main.some(({ component }) => ENDS_CALLS.has(component));
}

/** A time, with the entries between the step before and it. */
interface When {
  readonly at: number;
  readonly since: number;
  readonly entries: readonly TraceEntry[];
}

function endOf({ start, milliseconds = 0 }: TraceEntry): number {
  return start + milliseconds;
}

function deed(entry: TraceEntry): Step[] {
  const { component, exit, listened, leg, error, result } = entry;
  if (leg !== undefined) return [];
  // It failed before it listened, e.g. because the call was not answered.
  if (error !== undefined && result === undefined) return [];
  if (component === 'record') return recorded(entry);
  if (component === 'recognise' && exit !== INTERRUPTED) return [said(entry)];
  if (component === 'detect_machine' && exit !== INTERRUPTED) return greeted(entry);
  if (!listens(component) || exit === INTERRUPTED) return [];
  const keys = keysOf(entry);
  if (keys !== '') return [{ presses: keys }];
  return component === 'collect' || component === 'menu' || listened === true ? ['silence'] : [];
}

function interrupted(interrupt: string, when: When, entry: TraceEntry): Step[] {
  const [kind, key = ''] = interrupt.split(' ');
  const sound = kind === 'unhold' ? undefined : lastSound(when.entries, entry);
  const after = sound === undefined ? `${elapsed(when)}ms` : within(when.at - entry.start);
  const steps = deedOf(kind, key, after);
  return sound === undefined || steps.length === 0 ? steps : [{ hears: sound }, ...steps];
}

function deedOf(kind: string | undefined, key: string, after: string): Step[] {
  if (kind === 'dtmf') return [{ presses: key, after }];
  if (kind === 'hold') return [{ holds: after }];
  if (kind === 'unhold') return [{ resumes: after }];
  return kind === 'hangup' ? [{ hangs_up: after }] : [];
}

function kindOf(what: ToldEvent['what']): string {
  return what.split(' ')[0] ?? '';
}

/** A call's end that no block reports by an exit. */
function hangUp(main: readonly TraceEntry[], { since, entries }: Omit<When, 'at'>): Step[] {
  const last = main.at(-1);
  if (last === undefined) return ['hangs_up'];
  const at = endOf(last);
  // During its speech: the time before has passed.
  if (last.component === 'record' && last.exit === INTERRUPTED) return [{ hangs_up: `${THINK_MS}ms` }];
  const sound = last.exit === INTERRUPTED ? lastSound(entries, last) : undefined;
  if (sound !== undefined) return [{ hears: sound }, { hangs_up: within(last.milliseconds ?? 0) }];
  return [{ hangs_up: `${elapsed({ at, since, entries })}ms` }];
}

/** Sounds have fixed durations in tests, so times count from the start of the heard sound. */
function within(milliseconds: number): string {
  return `${Math.min(THINK_MS, milliseconds)}ms`;
}

/** The sound of an entry by its name in tests; undefined when it is not a single one, or was heard before. */
function lastSound(entries: readonly TraceEntry[], entry: TraceEntry): string | undefined {
  const { component, subject, leg } = entry;
  // A test cannot wait for an empty name, or for one that changes from run to run.
  if (subject === undefined || /^(silence|recording):/.test(subject)) return undefined;
  const isOne = component === 'say' || ((component === 'play' || ASKS.has(component)) && !subject.includes(' '));
  if (!isOne || leg !== undefined || subject.length >= MAX_SUBJECT_LENGTH) return undefined;
  if (entries.filter((each) => each.subject === subject).length !== 1) return undefined;
  return component === 'say' ? subject : soundName(subject);
}

function soundName(subject: string): string {
  const [, text] = /^say(?:\[[^\]]*\])?:\s*(.*)$/s.exec(subject) ?? [];
  if (text !== undefined) return text.trim();
  return subject.startsWith('tone:') ? subject : path.posix.basename(subject);
}

/**
 * Milliseconds in a test from the step before to a time: sounds of one kind all have the same duration there.
 */
function elapsed({ at, since, entries }: When): number {
  let total = 0;
  let from = since;
  for (const entry of entries) {
    const begin = Math.max(from, entry.start);
    const end = Math.min(at, endOf(entry));
    if (end < begin) continue;
    // The gap between two entries is empty, or a module's own work.
    total += begin - from;
    const length = simulated(entry);
    const [first, last] = [begin - entry.start, end - entry.start];
    const over = entry.exit !== INTERRUPTED && end === endOf(entry);
    total += Math.max(0, (over ? length : Math.min(last, length - 1)) - Math.min(first, length));
    from = end;
  }
  return Math.max(0, Math.round(total + Math.max(0, at - from)));
}

/** Outside answers come at once, unless they took long. */
function isShortAnswer(component: string, milliseconds: number): boolean {
  return (component === 'http' || component.startsWith('operation.')) && milliseconds < LONG_MS;
}

/** Duration of an entry in a test; Infinity when it was cut short and only its sounds limit it. */
function simulated({ component, subject, milliseconds = 0, exit }: TraceEntry): number {
  const lasts =
    exit === INTERRUPTED
      ? Infinity
      : AT_ONCE.has(component) || isShortAnswer(component, milliseconds)
        ? 0
        : milliseconds;
  if (subject === undefined || subject.length >= MAX_SUBJECT_LENGTH) return lasts;
  if (component === 'say') return subject.length * CHARACTER_MS;
  if (component !== 'play' || subject.includes(' ')) return lasts;
  const [, kind = '', rest = ''] = /^(silence|say(?:\[[^\]]*\])?):(.*)$/s.exec(subject) ?? [];
  if (kind === 'silence') return parseDuration(rest) ?? lasts;
  return kind === '' ? PROMPT_MS : rest.trim().length * CHARACTER_MS;
}
