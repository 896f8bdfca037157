/** Calls to simulated phones. */
import { type Answer, bestAnswer, type Clock, type PreAnswer, type Transfer } from '../../runs/index.ts';
import { type Following, type ScriptedAnswer, followAnswers, statusText } from './answers.ts';
import type { PhoneScript } from './phones.ts';
import type { SimulatedCall } from './simulated-call.ts';
import type { Turn } from './turns.ts';

/** Options of a call to a simulated phone. */
export interface Calling extends Omit<Following, 'clock'> {
  readonly preAnswer?: PreAnswer | undefined;
  /** Aborted when another phone has the call. */
  readonly lost?: AbortSignal | undefined;
  /** Connects the phone with a scenario alone; the phone follows these turns. */
  readonly alone: (turns: readonly Turn[]) => SimulatedCall;
}

/** Answers of a phone, and its turns after the connection. */
export interface Called extends Pick<Transfer, 'provisional' | 'final'> {
  readonly turns: () => readonly Turn[];
}

const DECLINED: ScriptedAnswer = { after: 0, status: 603, local: true };

/** Calls a phone: it answers by its script, and a scenario may serve it before the connection. */
export function callPhone(clock: Clock, phone: PhoneScript, { preAnswer, alone, lost, ...calling }: Calling): Called {
  const signal = lost === undefined ? calling.signal : AbortSignal.any([calling.signal, lost]);
  const { provisional, final } = followAnswers(phone.answers, { clock, ...calling, signal });
  let turns = phone.turns ?? [];
  if (preAnswer === undefined) return { provisional, final, turns: () => turns };
  const served = final.then(async (answer) => {
    if (answer.status >= 300) return answer;
    const call = alone(turns);
    const over = (): void =>
      call.end('external', calling.signal.aborted ? 'the caller is gone' : 'somebody else has the call');
    signal.addEventListener('abort', over, { once: true });
    if (signal.aborted) over();
    const connect = (await preAnswer(call)) && !call.endSignal.aborted;
    signal.removeEventListener('abort', over);
    turns = call.turnsLeft;
    if (connect) return answer;
    const { status } = DECLINED;
    const reason = statusText(status).slice(4);
    return { status, reason, line: `SIP/2.0 ${statusText(status)}`, local: true };
  });
  return { provisional, final: served, turns: () => turns };
}

/** Several phones that ring at once. */
export interface CalledFirst<T> extends Pick<Transfer, 'provisional' | 'final'> {
  /** The phone that took the call. */
  readonly answeredBy: Promise<T | undefined>;
}

/** Calls several phones at once: the first that takes the call has it, and the others lose it. */
export function callFirst<T>(
  phones: readonly T[],
  call: (phone: T, lost: AbortSignal) => Pick<Called, 'provisional' | 'final'>,
): CalledFirst<T> {
  const taken = new AbortController();
  const calls = phones.map((phone) => ({ phone, ...call(phone, taken.signal) }));
  const answeredBy = Promise.withResolvers<T | undefined>();
  const final = Promise.withResolvers<Answer>();
  const refusals: Answer[] = [];
  for (const { phone, final: each } of calls) {
    void each.then((answer) => {
      if (answer.status >= 300) refusals.push(answer);
      else if (!taken.signal.aborted) {
        taken.abort();
        answeredBy.resolve(phone);
        final.resolve(answer);
      }
      const best = refusals.length === calls.length ? bestAnswer(refusals) : undefined;
      if (best === undefined) return;
      answeredBy.resolve(undefined);
      final.resolve(best);
    });
  }
  return {
    provisional: Promise.race(calls.map(({ provisional }) => provisional)),
    final: final.promise,
    answeredBy: answeredBy.promise,
  };
}
