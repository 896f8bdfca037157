import { INTERRUPTED, type TraceEntry } from '../run/trace.ts';
import { plainText } from '../values.ts';

/** Components that listen to the other party, and the result in which the keys are. */
const LISTENING: Readonly<Record<string, string>> = { collect: 'digits', menu: 'digit', play: 'digit', say: 'digit' };
/** The component that writes to phones without calling them. */
const TEXT = 'send_message';
/** The component that lets the caller talk to a further call. */
const BRIDGE = 'bridge';

/** Components whose target rings from their beginning. */
const RINGS_AT_ONCE: ReadonlySet<string> = new Set(['call', 'refer']);
const NO_ANSWER = 'no answer';
/** Status of a call that was called off (RFC 3261 section 15.1.2). */
const CANCELLED = 487;

/** A further call that was answered. */
interface Leg {
  readonly number: string;
  /** When it did the last thing. */
  since: number;
}

/** What the numbers that were called did, by the words of tests. @param entries by their time */
export function calledPhones(entries: readonly TraceEntry[]): Record<string, string> {
  const phones: Record<string, string> = {};
  const legs = new Map<string, Leg>();
  // A phone that is busy may take a text: what it did when it was called counts more.
  for (const entry of entries) if (entry.component === TEXT) answers(entry, phones);
  for (const entry of entries) {
    if (entry.component !== TEXT) answers(entry, phones, legs);
    const leg = legs.get(entry.component === BRIDGE ? plainText(entry.subject ?? '') : (entry.leg ?? ''));
    const did = leg && legDeed(entry, leg);
    if (leg && did !== undefined) phones[leg.number] = `${phones[leg.number] ?? 'answers'}, ${did}`;
  }
  return phones;
}

function answers(
  { component, exit, leg, start, answers: all = [] }: TraceEntry,
  phones: Record<string, string>,
  legs?: Map<string, Leg>,
): void {
  for (const { party, line, at } of all) {
    const status = Number(line.split(' ')[1]);
    if (!/^\d+$/.test(party)) continue;
    // It rang when the caller had enough.
    const rang = exit === INTERRUPTED && (status < 200 || status === CANCELLED);
    if (rang) phones[party] = NO_ANSWER;
    if (rang || status < 200) continue;
    const answered = RINGS_AT_ONCE.has(component) ? `answers after ${at - start}ms` : 'answers';
    phones[party] = status < 300 ? answered : status === 408 ? NO_ANSWER : String(status);
    if (component === 'call' && leg !== undefined && status < 300) legs?.set(leg, { number: party, since: at });
  }
}

/** Keys that it pressed, or that it hung up. */
function legDeed(entry: TraceEntry, leg: Leg): string | undefined {
  const { component, exit, start, milliseconds = 0 } = entry;
  const before = leg.since;
  const end = start + milliseconds;
  if (component === BRIDGE && exit === 'ended') {
    leg.since = end;
    return `hangs up after ${Math.max(0, end - before)}ms`;
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
