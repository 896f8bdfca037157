/** Finds in a trace what a party said. */
import type { TraceEntry } from '../../runs/index.ts';
import { plainText } from '../../language/index.ts';
import { CHARACTER_MS } from '../simulation/simulated-party.ts';
import { THINK_MS } from '../simulation/turns.ts';

/** Longer than any person's greeting. */
const MACHINE_WORDS = 'Nobody can take your call. Please leave a message after the tone.';

/** A step of the caller, in the words of tests. */
export type Step = string | Record<string, string>;

/** The speech for a question; for an unrecognised answer none of the expected words. */
export function said({ exit, result }: TraceEntry): Step {
  const text = result?.['text'];
  if (text !== undefined && text !== '') return { says: plainText(text) };
  return exit === 'failed' ? { says: '?' } : 'silence';
}

/** Speech for the duration of the recording, then the cause of its end. */
export function recorded({ result = {}, milliseconds = 0 }: TraceEntry): Step[] {
  const { reason, digit, milliseconds: length } = result;
  if (reason === 'silence' && typeof length === 'number' && length < THINK_MS) return ['silence'];
  const spoken = (typeof length === 'number' ? length : milliseconds) - 2 * THINK_MS;
  // Ends before the recording's own limit, so that a hang-up at the last moment still comes first.
  const says = { says: 'x'.repeat(Math.max(1, Math.ceil(spoken / CHARACTER_MS) - 1)) };
  return reason === 'digit' ? [says, { presses: plainText(digit ?? '#') }] : [says];
}

/** What a block that looks for machines heard; the speech has the length that decided. */
export function greeted({ result = {} }: TraceEntry): Step[] {
  const { result: who, greeting_ms: spoken, end } = result;
  const says = { says: 'x'.repeat(Math.max(1, Math.ceil((typeof spoken === 'number' ? spoken : 0) / CHARACTER_MS))) };
  const first = spoken === 0 ? 'silence' : who === 'human' ? says : { says: MACHINE_WORDS };
  return end === 'beep' ? [first, 'beeps'] : [first];
}

/** The same as words of a called phone: `says "yes"`. */
export function asWords(step: Step): string {
  if (typeof step === 'string') return step;
  const [[kind, text] = ['', '']] = Object.entries(step);
  return kind === 'says' ? `says "${text.replaceAll('"', "'")}"` : `${kind} ${text}`;
}
