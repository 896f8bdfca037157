import { parseDuration } from '../duration.ts';
import type { ScriptedAnswer } from './answers.ts';

/** SIP statuses of the words that authors use for what a phone does. */
const REFUSALS: Readonly<Record<string, number>> = { busy: 486, declines: 603, unknown: 404, unavailable: 480 };
const RINGS: ScriptedAnswer = { after: 0, status: 180 };

/**
 * What a phone does when it is called, in an author's words: `answers`, `busy`, `no answer`, `declines`, `unknown`,
 * `unavailable` or a SIP status, and with `after 5s` how long it rings before.
 * @returns undefined when the text says nothing of that
 */
export function readPhone(text: string): readonly ScriptedAnswer[] | undefined {
  const [, deed = '', time] = /^(.*?)(?:\s+after\s+(\S+))?$/.exec(text.trim()) ?? [];
  const after = time === undefined ? undefined : parseDuration(time);
  if (time !== undefined && after === undefined) return undefined;
  if (deed === 'no answer') return [RINGS];
  if (deed === 'answers') return [RINGS, { after: after ?? 1000, status: 200 }];
  const status = REFUSALS[deed] ?? (/^[3-6]\d\d$/.test(deed) ? Number(deed) : undefined);
  if (status === undefined) return undefined;
  return after === undefined ? [{ after: 50, status }] : [RINGS, { after, status }];
}
