/** A call that a phone of the load makes. */
import type { ClientTransaction, SipRequest, SipResponse } from '../../embedded/stack/index.ts';
import { Sound } from '../media/sound.ts';
import type { Account } from '../plan.ts';
import { Dialog } from '../sip/dialog.ts';
import { describe } from '../sip/sdp.ts';
import { Leg } from './leg.ts';
import type { CallRecord, Failure } from './record.ts';
import { Conversation } from './talk.ts';
import { type CallTools, usableFarEnd } from './tools.ts';

/** Longest wait for a final answer beyond the time to ring, milliseconds. */
const ANSWER_MS = 40_000;

interface Answer {
  readonly response: SipResponse;
  readonly invite: SipRequest;
  readonly transaction: ClientTransaction;
}

/**
 * Calls, talks and hangs up. Resolves when the call is over; what became of it is in the record.
 * @param number login or number in the domain
 */
export async function callOut(
  tools: CallTools,
  record: CallRecord,
  index: number,
  caller: Account,
  number: string,
): Promise<void> {
  const sound = await Sound.open(tools);
  try {
    const began = performance.now();
    const description = describe(tools.plan.localHost, sound.port);
    const answer = await invite(tools, record, caller, number, description);
    if ('kind' in answer) {
      record.failure = answer;
      return;
    }
    if (answer.response.status >= 300) {
      const { status, reason } = answer.response;
      if (tools.stop.aborted && status === 487) record.isCutShort = true;
      else record.failure = { kind: 'refused', detail: `${status} ${reason}` };
      return;
    }
    record.answered = performance.now() - began;
    const dialog = Dialog.ofCaller(answer.invite, answer.response);
    tools.agent.acknowledge(answer.transaction, dialog);
    const leg = new Leg(tools.agent, caller.login, dialog, sound, description);
    const far = usableFarEnd(answer.response.body, tools);
    if (typeof far === 'string') {
      record.failure = { kind: 'no media', detail: far };
      await leg.hangUp();
      return;
    }
    const conversation = new Conversation(tools.plan, record, index, began);
    conversation.connect(sound, far);
    await conversation.talk(leg, sound, tools);
  } finally {
    sound.close();
  }
}

function invite(
  { agent, plan, stop }: CallTools,
  record: CallRecord,
  caller: Account,
  number: string,
  description: string,
): Promise<Answer | Failure> {
  const uri = agent.uriOf(number);
  const began = performance.now();
  return new Promise((resolve) => {
    let isLate = false;
    const cancel = (): void => sent.cancel();
    const timer = setTimeout(() => {
      isLate = true;
      cancel();
    }, plan.ringMs + ANSWER_MS);
    const done = (answer: Answer | Failure): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', cancel);
      resolve(answer);
    };
    const sent = agent.send(
      'INVITE',
      uri,
      caller,
      uri,
      (request) => {
        request.add('Content-Type', 'application/sdp');
        request.body = Buffer.from(description);
      },
      {
        provisional: ({ status }) => {
          if (status > 100) record.ringing ??= performance.now() - began;
        },
        final: (response, request, transaction) =>
          done(
            isLate && response.status === 487
              ? { kind: 'timeout', detail: 'no final answer to INVITE' }
              : { response, invite: request, transaction },
          ),
        failed: (reason) =>
          done({ kind: reason === 'timeout' ? 'timeout' : 'unreachable', detail: `INVITE: ${reason}` }),
      },
    );
    stop.addEventListener('abort', cancel);
    if (stop.aborted) cancel();
  });
}
