import { parseDuration } from '../duration.ts';
import { ANSWERS, type ScriptedAnswer } from './answers.ts';
import type { Turn } from './turns.ts';

/** What a called phone does. */
export interface PhoneScript {
  readonly answers: readonly ScriptedAnswer[];
  /** Once it has answered, while the scenario talks to it or it talks to the caller. */
  readonly turns?: readonly Turn[];
}

/** Rings at once, answers after a second, and hangs up after a minute. */
export const ANSWERING: PhoneScript = { answers: ANSWERS, turns: [{ kind: 'hang_up', after: 60_000 }] };

/** SIP statuses of the words that authors use for what a phone does. */
const REFUSALS: Readonly<Record<string, number>> = { busy: 486, declines: 603, unknown: 404, unavailable: 480 };
const RINGS: ScriptedAnswer = { after: 0, status: 180 };

/**
 * What a phone does when it is called, in an author's words: `answers`, `busy`, `no answer`, `declines`, `unknown`,
 * `unavailable` or a SIP status, with `after 5s` how long it rings before; and then what it does in the call: `answers
 * after 2s, presses 1, hangs up after 30s`.
 * @returns undefined when the text says nothing of that
 */
export function readPhone(text: string): PhoneScript | undefined {
  const [first = '', ...deeds] = text.split(',').map((part) => part.trim());
  const answers = readAnswers(first);
  const turns = deeds.map(readDeed);
  if (answers === undefined || turns.includes(undefined)) return undefined;
  return turns.length === 0 ? { answers } : { answers, turns: turns as Turn[] };
}

function readAnswers(text: string): readonly ScriptedAnswer[] | undefined {
  const [, deed = '', time] = /^(.*?)(?:\s+after\s+(\S+))?$/.exec(text) ?? [];
  const after = time === undefined ? undefined : parseDuration(time);
  if (time !== undefined && after === undefined) return undefined;
  if (deed === 'no answer') return [RINGS];
  if (deed === 'answers') return [RINGS, { after: after ?? 1000, status: 200 }];
  const status = REFUSALS[deed] ?? (/^[3-6]\d\d$/.test(deed) ? Number(deed) : undefined);
  if (status === undefined) return undefined;
  return after === undefined ? [{ after: 50, status }] : [RINGS, { after, status }];
}

function readDeed(text: string): Turn | undefined {
  const [, deed = '', time] = /^(.*?)(?:\s+after\s+(\S+))?$/.exec(text) ?? [];
  const after = time === undefined ? undefined : parseDuration(time);
  if (time !== undefined && after === undefined) return undefined;
  const when = after === undefined ? {} : { after };
  const [, digits] = /^presses\s+([0-9*#A-D]+)$/.exec(deed) ?? [];
  if (digits !== undefined) return { kind: 'press', digits, ...when };
  return deed === 'hangs up' ? { kind: 'hang_up', after: after ?? 0 } : undefined;
}
