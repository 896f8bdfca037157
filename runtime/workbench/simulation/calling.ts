/** Calls to simulated phones. */
import type { Clock, PreAnswer, Transfer } from '../../runs/index.ts';
import { type Following, type ScriptedAnswer, followAnswers, statusText } from './answers.ts';
import type { PhoneScript } from './phones.ts';
import type { SimulatedCall } from './simulated-call.ts';
import type { Turn } from './turns.ts';

/** Options of a call to a simulated phone. */
export interface Calling extends Omit<Following, 'clock'> {
  readonly preAnswer?: PreAnswer | undefined;
  /** Connects the phone with a scenario alone; the phone follows these turns. */
  readonly alone: (turns: readonly Turn[]) => SimulatedCall;
}

/** Answers of a phone, and its turns after the connection. */
export interface Called extends Pick<Transfer, 'provisional' | 'final'> {
  readonly turns: () => readonly Turn[];
}

const DECLINED: ScriptedAnswer = { after: 0, status: 603, local: true };

/** Calls a phone: it answers by its script, and a scenario may serve it before the connection. */
export function callPhone(clock: Clock, phone: PhoneScript, { preAnswer, alone, ...following }: Calling): Called {
  const { provisional, final } = followAnswers(phone.answers, { clock, ...following });
  let turns = phone.turns ?? [];
  if (preAnswer === undefined) return { provisional, final, turns: () => turns };
  const served = final.then(async (answer) => {
    if (answer.status >= 300) return answer;
    const call = alone(turns);
    const callerGone = (): void => call.end('external', 'the caller is gone');
    following.signal.addEventListener('abort', callerGone, { once: true });
    const connect = (await preAnswer(call)) && !call.endSignal.aborted;
    following.signal.removeEventListener('abort', callerGone);
    turns = call.turnsLeft;
    if (connect) return answer;
    const { status } = DECLINED;
    const reason = statusText(status).slice(4);
    return { status, reason, line: `SIP/2.0 ${statusText(status)}`, local: true };
  });
  return { provisional, final: served, turns: () => turns };
}

/** The phone that gets the call when several ring at once: the first to answer, otherwise the last to give up. */
export function firstOf<T extends { readonly phone: PhoneScript }>(
  phones: readonly T[],
): { readonly winner: T | undefined; readonly followed: T | undefined } {
  const end = ({ phone }: T): ScriptedAnswer | undefined => phone.answers.findLast(({ status }) => status >= 200);
  const byEnd = phones.toSorted((a, b) => (end(a)?.after ?? Infinity) - (end(b)?.after ?? Infinity));
  const winner = byEnd.find((each) => (end(each)?.status ?? 408) < 300);
  return { winner, followed: winner ?? byEnd.at(-1) };
}
