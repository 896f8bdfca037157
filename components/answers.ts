/** Shared by `call` and `refer`: following the answers of a call in progress. */
import { Type } from 'typebox';
import { type Answer, type ComponentContext, isCancellable } from '../runtime/runs/index.ts';
import { INTERRUPT, type Value } from '../runtime/language/index.ts';

/** A call or transfer in progress, with its answering party. */
export interface Attempt {
  readonly callid: string;
  readonly dialogid: string;
  readonly provisional: Promise<Answer>;
  readonly final: Promise<Answer>;
}

/**
 * Adds the answers to the trace as they come, and reports them as milestones `PARTY initiated`, `PARTY provisional`,
 * `PARTY final` when the setting requests it. Continues after the block's end.
 */
export function follow(context: ComponentContext, attempt: Attempt, who: string, party: string | undefined): void {
  const { callid, dialogid } = attempt;
  const note = (stage: string, answer?: Answer): void => {
    if (answer) context.answered(party ?? who, answer);
    if (party !== undefined)
      context.report({ milestone: `${party} ${stage}`, callid, dialogid, ...(answer ? { answer } : {}) });
  };
  note('initiated');
  void attempt.provisional.then((answer) => {
    // Without a provisional answer this is the final one, which is noted below.
    if (answer.status < 200) note('provisional', answer);
  });
  void attempt.final.then((answer) => note('final', answer));
}

/**
 * Waits for an answer. When the block must end, the call is hung up, which makes the far end answer (487), so that no phone
 * is left ringing. An interrupt cancels a transfer instead, because the other party stays; a transfer that cannot be
 * cancelled is awaited.
 * @param attempt the transfer, if any
 * @throws the reason of the signal, when an interrupt came first: the missing answer is then not a refusal
 */
export async function answerOf(
  promise: Promise<Answer>,
  { call, signal, log }: Pick<ComponentContext, 'call' | 'signal' | 'log'>,
  attempt?: object,
): Promise<Answer> {
  const interrupted = (): boolean => (signal.reason as { code?: unknown } | undefined)?.code === INTERRUPT;
  const cancel = (): void => {
    if (call.endSignal.aborted) return;
    if (attempt && interrupted()) {
      if (isCancellable(attempt)) attempt.cancel();
      return;
    }
    call
      .hangup()
      .catch((error: unknown) =>
        log.debug({ callid: call.callid, err: error }, 'call was over before it was cancelled'),
      );
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answer = await promise;
    if (answer.status >= 300 && interrupted()) throw signal.reason;
    return answer;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** The setting for reporting a block's answers as milestones of an operation. */
export const reportAs = (example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16,
      examples: [example],
      description: 'Report the answers as milestones of this party.',
    }),
  );

/** The setting with the transferring party. */
export const referredBy = Type.String({
  maxLength: 256,
  // Without characters that could end the header.
  pattern: '^(<sips?:[^<>\\s]+>)?$',
  default: '',
  examples: ['<sip:101@demo.local>'],
  description: 'Who wants the transfer: Referred-By of the new call (RFC 3892).',
});

/** Result fields of an answer. */
export const ANSWER_RESULTS = {
  status: { type: 'integer', description: 'SIP status of the last answer, 0 when there was none yet.' },
  last_response: { type: 'string', description: 'Its status line, e.g. `SIP/2.0 486 Busy Here`.' },
  callid: { type: 'string', description: 'Call-ID of the calling side.' },
  dialogid: { type: 'string', description: 'Id of the dialog.' },
} as const;

export function answerFields({ callid, dialogid }: Attempt, answer?: Answer): Record<string, Value> {
  return { callid, dialogid, status: answer?.status ?? 0, last_response: answer?.line ?? '' };
}

/** The exit for an answer. */
export function exitOf({ status }: Answer): 'ringing' | 'answered' | 'busy' | 'no_answer' | 'refused' {
  if (status < 200) return 'ringing';
  if (status < 300) return 'answered';
  if (status === 486 || status === 600) return 'busy';
  return status === 408 || status === 480 ? 'no_answer' : 'refused';
}
