import { INTERRUPTED, type RunView, type TraceEntry } from '../../runs/index.ts';
import { plainText } from '../../language/index.ts';

/** Components that listen to the other party, and the result in which the keys are. */
const LISTENING: Readonly<Record<string, string>> = { collect: 'digits', menu: 'digit', play: 'digit', say: 'digit' };
/** The component that writes to phones without calling them. */
const TEXT = 'send_message';
/** The component that lets the caller talk to a further call. */
const BRIDGE = 'bridge';
/** Components that make somebody the other party of a call. */
const PLACES: ReadonlySet<string> = new Set(['call', 'take_over']);
/** Components whose answers are those of phones. */
const KNOWN: ReadonlySet<string> = new Set(['hunt', 'take_over', TEXT]);
/** Components whose target rings from their beginning. */
const RINGS_AT_ONCE: ReadonlySet<string> = new Set(['call', 'refer']);
/** Errors of blocks whose party is gone: meanwhile, or before. */
const GONE = 'call_ended';
const GONE_BEFORE = 'call_state';

/** The component that gives the call to another run. */
export const SERVE = 'serve';
/** What `run` says of a scenario that has a call of its own. */
export const PARALLEL = 'running';
/** How soon somebody hangs up in a block that may be short. */
const SOON_MS = 100;
const NO_ANSWER = 'no answer';
/** Status of a call that was called off (RFC 3261 section 15.1.2). */
const CANCELLED = 487;

/** What a phone did when it was called once. */
interface Attempt {
  words: string;
  /** The block that called it. */
  readonly by: TraceEntry;
}

/** A further call that was answered. */
interface Leg {
  readonly attempt: Attempt;
  /** When it did the last thing. */
  since: number;
  gone: boolean;
}

/** An entry of a run, as far as somebody who was called has to do with it. */
interface Asked {
  readonly entry: TraceEntry;
  /** The call it was for; undefined: the caller's. */
  readonly leg: string | undefined;
  /** Whom it let the caller talk to. */
  readonly other: string | undefined;
  /** The call that a scenario has to itself before the connection. */
  readonly before: string;
  /** The called party hung up meanwhile. */
  readonly ended: boolean;
}

/** What the numbers that were called did, by the words of tests: a list where they did different things one after another. */
export function calledPhones(view: RunView): Record<string, string | string[]> {
  const phones = new Map<string, Attempt[]>();
  const texted = new Map<string, Attempt[]>();
  const legs = new Map<string, Leg>();
  const asked = entriesOf(view, undefined).toSorted((a, b) => a.entry.start - b.entry.start);
  // A phone that is busy may take a text: what it did when it was called counts more, and of texts the last.
  for (const each of asked) if (each.entry.component === TEXT) answers(each, texted, legs);
  for (const each of asked) {
    if (each.entry.component !== TEXT) answers(each, phones, legs);
    const leg = legs.get(each.other ?? each.leg ?? '');
    const did = leg && !leg.gone && legDeed(each, leg);
    if (leg && did !== undefined) leg.attempt.words += `, ${did}`;
  }
  return Object.fromEntries([...new Map([...texted, ...phones])].map(([number, did]) => [number, oneOrAll(did)]));
}

/** The last one is what a phone does from then on. */
function oneOrAll(attempts: readonly Attempt[]): string | string[] {
  const words = attempts.map((attempt) => attempt.words);
  while (words.length > 1 && words.at(-1) === words.at(-2)) words.pop();
  const [only = ''] = words;
  return words.length === 1 ? only : words;
}

/** The entries of a run and of those that it started. @param own the call that those without `leg` are for */
function entriesOf(view: RunView, own: string | undefined): readonly Asked[] {
  const { id, trace, children = [], outcome } = view;
  const legOf = (name: string | undefined): string | undefined => (name === undefined ? own : `${id} leg ${name}`);
  const before = ({ step }: TraceEntry): string => `${id} step ${step}`;
  const hungUp = own?.startsWith(id) === true && outcome?.reason?.startsWith('opponent') === true;
  const last = hungUp ? trace.findLast(({ exit }) => exit === INTERRUPTED) : undefined;
  const entries = trace.map((entry) => ({
    entry,
    leg: legOf(entry.leg),
    other: entry.component === BRIDGE ? legOf(entry.subject) : undefined,
    before: before(entry),
    ended: entry === last,
  }));
  const started = children.flatMap((child) => {
    const by = trace.find(({ runs = [] }) => runs.includes(child.id));
    // A fallback scenario has the call of the one that failed.
    if (by === undefined) return entriesOf(child, own);
    if (by.component !== 'run' && by.component !== SERVE) return entriesOf(child, before(by));
    return entriesOf(child, by.result?.['status'] === PARALLEL ? `${child.id} own` : legOf(by.leg));
  });
  return [...entries, ...started];
}

function answers({ entry, leg, before }: Asked, phones: Map<string, Attempt[]>, legs: Map<string, Leg>): void {
  const { component, exit, start, answers: all = [], runs = [] } = entry;
  for (const { party, line, at } of all) {
    const number = dialled(entry, party);
    const status = Number(line.split(' ')[1]);
    if (number === undefined) continue;
    // It rang when the caller had enough.
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
    const answered = RINGS_AT_ONCE.has(component) ? `answers after ${at - start}ms` : 'answers';
    const attempt = note(status < 300 ? answered : status === 408 ? NO_ANSWER : String(status));
    if (status >= 300) continue;
    const answering = { attempt, since: at, gone: false };
    if (PLACES.has(component) && leg !== undefined) legs.set(leg, answering);
    // It answered, and was asked something before it was connected.
    if (runs.length > 0) legs.set(before, { ...answering, since: start });
  }
}

/** The number by which a party was called, without the digits that were sent after its answer; the id of a live call. */
function dialled({ component, subject }: TraceEntry, party: string): string | undefined {
  const called = RINGS_AT_ONCE.has(component) || component === 'take_over' ? subject : party;
  const number = called?.replace(/[',].*$/, '') ?? '';
  return number === '' || (!RINGS_AT_ONCE.has(component) && !KNOWN.has(component)) ? undefined : number;
}

/** What a called party did: keys that it pressed, or that it hung up. */
function legDeed({ entry, other, ended }: Asked, leg: Leg): string | undefined {
  const { component, exit, start, milliseconds = 0, error } = entry;
  const before = leg.since;
  const end = start + milliseconds;
  const hungUp = ended || (other !== undefined && exit === 'ended');
  if (hungUp || (other === undefined && (error?.code === GONE || error?.code === GONE_BEFORE))) {
    leg.gone = true;
    // Soon, in a block that is over sooner in a test; before the block, where it found nobody.
    const during = error?.code === GONE ? start + Math.min(milliseconds, SOON_MS) : before;
    return `hangs up after ${Math.max(0, (hungUp ? end : during) - before)}ms`;
  }
  const keys = listens(component) && exit !== INTERRUPTED ? keysOf(entry) : '';
  if (keys === '') return undefined;
  leg.since = end;
  return `presses ${keys}`;
}

export function listens(component: string): boolean {
  return component in LISTENING;
}

/** The keys that ended a block that listens, or that it collected. */
export function keysOf({ component, result = {} }: TraceEntry): string {
  const text = (field: string): string => plainText(result[field] ?? '');
  return `${text(LISTENING[component] ?? '')}${text('terminator')}`;
}
