/** Scripted answers of simulated parties. */
import type { Answer, Clock, OutgoingCall } from '../../runs/index.ts';

/** An answer, `after` milliseconds. A party without a final answer in its script is silent until the timeout. */
export interface ScriptedAnswer {
  readonly after: number;
  readonly status: number;
  readonly reason?: string;
  /** Made by the node, not by the device. */
  readonly local?: boolean;
}

const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  302: 'Moved Temporarily',
  404: 'Not Found',
  408: 'Request Timeout',
  480: 'Temporarily Unavailable',
  486: 'Busy Here',
  487: 'Request Terminated',
  503: 'Service Unavailable',
  603: 'Decline',
};

/** The default script: rings at once, answers after a second. */
export const ANSWERS: readonly ScriptedAnswer[] = [
  { after: 0, status: 180 },
  { after: 1000, status: 200 },
];
/** The answer of a party that is already in a call. */
export const AT_ONCE: readonly ScriptedAnswer[] = [{ after: 0, status: 200 }];

export interface Following {
  readonly clock: Clock;
  /** Ends the attempt with 487. */
  readonly signal: AbortSignal;
  /** Milliseconds before the attempt ends with 408. */
  readonly timeoutMs: number;
  /** Provisional answers below this status are not reported. */
  readonly lowest: number;
}

/** Follows a script of answers until a final one, the timeout (408) or the end of the call (487). */
export function followAnswers(
  script: readonly ScriptedAnswer[],
  { clock, signal, timeoutMs, lowest }: Following,
): Pick<OutgoingCall, 'provisional' | 'final'> {
  const provisional = Promise.withResolvers<Answer>();
  const follow = async (): Promise<Answer> => {
    const start = clock.now();
    for (const scripted of script) {
      if (scripted.after >= timeoutMs) break;
      await clock.sleep(start + scripted.after - clock.now(), signal);
      const answer = toAnswer(scripted);
      if (answer.status >= 200) return answer;
      if (answer.status >= lowest) provisional.resolve(answer);
    }
    await clock.sleep(start + timeoutMs - clock.now(), signal);
    return toAnswer({ after: timeoutMs, status: 408, local: true });
  };
  const final = follow().catch(() => toAnswer({ after: 0, status: 487, local: true }));
  void final.then((answer) => provisional.resolve(answer));
  return { provisional: provisional.promise, final };
}

/** `486 Busy Here` */
export function statusText(status: number, reason?: string): string {
  return `${status} ${reason ?? REASONS[status] ?? ''}`.trim();
}

function toAnswer({ status, reason, local = false }: ScriptedAnswer): Answer {
  const phrase = reason ?? REASONS[status] ?? 'Answer';
  return { status, reason: phrase, line: `SIP/2.0 ${status} ${phrase}`, local };
}
