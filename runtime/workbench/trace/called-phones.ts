/** Finds the behaviour of called phones in a trace. */
import { INTERRUPTED, type RunView, type TraceEntry } from '../../runs/index.ts';
import { plainText } from '../../language/index.ts';
import { asWords, greeted, recorded, said, type Step } from './speech.ts';

/** Components that listen to the other party, with their result field for keys. */
const LISTENING: Readonly<Record<string, string>> = { collect: 'digits', menu: 'digit', play: 'digit', say: 'digit' };
/** The component that sends texts to phones. */
const TEXT = 'send_message';
/** The component that connects the caller with a further call. */
const BRIDGE = 'bridge';
/** The component that rings agents and connects one. */
const QUEUE = 'queue';
/** Components whose called parties a scenario may serve before the connection. */
const SCREENS: ReadonlySet<string> = new Set(['call', 'hunt', 'refer', QUEUE]);
/** Components that give a call its other party. */
const PLACES: ReadonlySet<string> = new Set(['call', 'take_over']);
/** Components with answers from phones. */
const KNOWN: ReadonlySet<string> = new Set(['hunt', 'take_over', QUEUE, TEXT]);
/** Components that ring their target at once. */
const RINGS_AT_ONCE: ReadonlySet<string> = new Set(['call', 'refer']);
/** Errors of blocks after the end of their party's call. */
const GONE = 'call_ended';
const GONE_BEFORE = 'call_state';

/** The component that passes the call to another run. */
export const SERVE = 'serve';
/** The subject of `run` for a scenario with a call of its own. */
export const PARALLEL = 'running';
/** Delay of a hang-up in a block that may be short. */
const SOON_MS = 100;
const NO_ANSWER = 'no answer';
/** Status of a cancelled call (RFC 3261 section 15.1.2). */
const CANCELLED = 487;

/** A phone's behaviour in one call. */
interface Attempt {
  words: string;
  /** The calling block. */
  readonly by: TraceEntry;
}

/** An answered further call. */
interface Leg {
  readonly attempt: Attempt;
  /** Time of its last action. */
  since: number;
  gone: boolean;
}

/** A trace entry in terms of called parties. */
interface Asked {
  readonly entry: TraceEntry;
  /** Its call; undefined: the caller's. */
  readonly leg: string | undefined;
  /** The call that it connected with the caller. */
  readonly other: string | undefined;
  /** The runs that served called parties before the connection, which have these as callers. */
  readonly screenings: readonly RunView[];
  /** The called party hung up during the block. */
  readonly ended: boolean;
}

/** Behaviour of the called numbers in the words of tests; a list where it differs from call to call. */
export function calledPhones(view: RunView): Record<string, string | string[]> {
  const phones = new Map<string, Attempt[]>();
  const texted = new Map<string, Attempt[]>();
  const legs = new Map<string, Leg>();
  const asked = entriesOf(view, undefined).toSorted((a, b) => a.entry.start - b.entry.start);
  // A busy phone may accept a text: its behaviour in calls takes precedence, and of texts the last counts.
  for (const each of asked) if (each.entry.component === TEXT) answers(each, texted, legs);
  for (const each of asked) {
    if (each.entry.component !== TEXT) answers(each, phones, legs);
    const leg = legs.get(each.other ?? each.leg ?? '');
    const did = leg && !leg.gone && legDeed(each, leg);
    if (leg && did !== undefined) leg.attempt.words += `, ${did}`;
  }
  for (const { entry } of asked) if (entry.component === QUEUE) conversation(entry, phones);
  return Object.fromEntries([...new Map([...texted, ...phones])].map(([number, did]) => [number, oneOrAll(did)]));
}

/** The last one repeats. */
function oneOrAll(attempts: readonly Attempt[]): string | string[] {
  const words = attempts.map((attempt) => attempt.words);
  while (words.length > 1 && words.at(-1) === words.at(-2)) words.pop();
  const [only = ''] = words;
  return words.length === 1 ? only : words;
}

/** The entries of a run and of runs started by it. @param own the call of entries without `leg` */
function entriesOf(view: RunView, own: string | undefined): readonly Asked[] {
  const { id, trace, children = [], outcome } = view;
  const legOf = (name: string | undefined): string | undefined => (name === undefined ? own : `${id} leg ${name}`);
  const hungUp = own?.startsWith(id) === true && outcome?.reason?.startsWith('opponent') === true;
  const last = hungUp ? trace.findLast(({ exit }) => exit === INTERRUPTED) : undefined;
  const entries = trace.map((entry) => ({
    entry,
    leg: legOf(entry.leg),
    other: entry.component === BRIDGE ? legOf(entry.subject) : undefined,
    screenings: SCREENS.has(entry.component) ? children.filter(({ id: run }) => entry.runs?.includes(run)) : [],
    ended: entry === last,
  }));
  const started = children.flatMap((child) => {
    const by = trace.find(({ runs = [] }) => runs.includes(child.id));
    // A fallback scenario has the call of the failed one.
    if (by === undefined) return entriesOf(child, own);
    if (SCREENS.has(by.component)) return entriesOf(child, screened(child));
    return entriesOf(child, by.result?.['status'] === PARALLEL ? `${child.id} own` : legOf(by.leg));
  });
  return [...entries, ...started];
}

/** The call of a party that a scenario serves before the connection. */
function screened({ id }: RunView): string {
  return `${id} screened`;
}

function answers({ entry, leg, screenings }: Asked, phones: Map<string, Attempt[]>, legs: Map<string, Leg>): void {
  const { component, exit, start, answers: all = [] } = entry;
  const asked = [...screenings];
  const ringing = new Map<string, number>();
  for (const { party, line, at } of all) {
    const [number, ...others] = dialled(entry, party);
    const status = Number(line.split(' ')[1]);
    if (number === undefined) continue;
    if (others.length > 0) {
      atOnce(entry, [number, ...others], { status, screenings }, { phones, legs });
      continue;
    }
    // The caller hung up while it rang.
    if (status < 200) ringing.set(number, at);
    const rang = exit === INTERRUPTED && (status < 200 || status === CANCELLED);
    const known = phones.get(number) ?? [];
    const note = (words: string): Attempt => {
      const attempt = { words, by: entry };
      const isSame = known.at(-1)?.by === entry && known.at(-1)?.words === NO_ANSWER && rang;
      phones.set(number, entry.component === TEXT ? [attempt] : [...(isSame ? known.slice(0, -1) : known), attempt]);
      return attempt;
    };
    if (rang) note(NO_ANSWER);
    if (rang || status < 200) continue;
    const begun = RINGS_AT_ONCE.has(component) ? start : ringing.get(number);
    const place = asked.findIndex(({ from }) => from === number);
    const [served] = place < 0 ? [] : asked.splice(place, 1);
    const took = served?.start ?? at;
    const answered = begun === undefined ? 'answers' : `answers after ${Math.max(0, took - begun)}ms`;
    if (served !== undefined) {
      const screening: Leg = { attempt: note(answered), since: took, gone: false };
      legs.set(screened(served), screening);
      if (PLACES.has(component) && leg !== undefined) legs.set(leg, screening);
      continue;
    }
    const attempt = note(status < 300 ? answered : status === 408 ? NO_ANSWER : String(status));
    if (status >= 300) continue;
    const answering = { attempt, since: at, gone: false };
    if (PLACES.has(component) && leg !== undefined) legs.set(leg, answering);
  }
}

/**
 * The members of a hunt group that rang together. The trace has one answer for all: that of the member that took the call,
 * or of the last to refuse.
 */
function atOnce(
  entry: TraceEntry,
  members: readonly string[],
  { status, screenings }: { readonly status: number; readonly screenings: readonly RunView[] },
  { phones, legs }: { readonly phones: Map<string, Attempt[]>; readonly legs: Map<string, Leg> },
): void {
  if (status < 200) return;
  const taker = plainText(entry.result?.['member'] ?? '');
  const refusal = status < 300 || status === 408 || status === CANCELLED ? NO_ANSWER : String(status);
  for (const member of members) {
    const served = screenings.find(({ from }) => from === member);
    const answered = (at: number): string => `answers after ${Math.max(0, at - entry.start)}ms`;
    const takes = status < 300 && member === taker;
    const words = served ? answered(served.start ?? entry.start) : takes ? answered(endOf(entry)) : refusal;
    const attempt = { words, by: entry };
    phones.set(member, [...(phones.get(member) ?? []), attempt]);
    if (served) legs.set(screened(served), { attempt, since: served.start ?? entry.start, gone: false });
  }
}

function endOf({ start, milliseconds = 0 }: TraceEntry): number {
  return start + milliseconds;
}

/** The conversation with an agent, which ends a queue's block when the agent hangs up. */
function conversation(entry: TraceEntry, phones: Map<string, Attempt[]>): void {
  const { agent, talked } = entry.result ?? {};
  if (entry.exit !== 'served' || typeof talked !== 'number') return;
  const attempt = phones.get(plainText(agent ?? ''))?.findLast(({ by }) => by === entry);
  if (attempt) attempt.words += `, hangs up after ${talked}ms`;
}

/** The called numbers without DTMF tail; the id of a live call. Several: a hunt group that rings all at once. */
function dialled({ component, subject }: TraceEntry, party: string): readonly string[] {
  if (!RINGS_AT_ONCE.has(component) && !KNOWN.has(component)) return [];
  if (component === 'hunt') return party.split(' ').map(withoutTail);
  const called = RINGS_AT_ONCE.has(component) || component === 'take_over' ? subject : party;
  const number = withoutTail(called ?? '');
  return number === '' ? [] : [number];
}

function withoutTail(called: string): string {
  return called.replace(/[',].*$/, '');
}

/** Actions of a called party: pressed keys, or a hang-up. */
function legDeed({ entry, other, ended }: Asked, leg: Leg): string | undefined {
  const { exit, start, milliseconds = 0, error } = entry;
  const before = leg.since;
  const end = start + milliseconds;
  const hungUp = ended || (other !== undefined && exit === 'ended');
  if (hungUp || (other === undefined && (error?.code === GONE || error?.code === GONE_BEFORE))) {
    leg.gone = true;
    // Soon, because the block may be shorter in a test; before the block, when the party was already gone.
    const during = error?.code === GONE ? start + Math.min(milliseconds, SOON_MS) : before;
    return `hangs up after ${Math.max(0, (hungUp ? end : during) - before)}ms`;
  }
  const did = other === undefined && exit !== INTERRUPTED ? answersOf(entry) : [];
  if (did.length === 0) return undefined;
  leg.since = end;
  return did.map(asWords).join(', ');
}

/** What the party of a call does while a block listens to it. */
function answersOf(entry: TraceEntry): readonly Step[] {
  const { component } = entry;
  if (component === 'record') return recorded(entry);
  if (component === 'recognise') return [said(entry)];
  if (component === 'detect_machine') return greeted(entry);
  const keys = listens(component) ? keysOf(entry) : '';
  if (keys !== '') return [{ presses: keys }];
  return component === 'collect' || component === 'menu' ? ['silence'] : [];
}

export function listens(component: string): boolean {
  return component in LISTENING;
}

/** The keys that a block collected, or the key that ended it. */
export function keysOf({ component, result = {} }: TraceEntry): string {
  const text = (field: string): string => plainText(result[field] ?? '');
  return `${text(LISTENING[component] ?? '')}${text('terminator')}`;
}
