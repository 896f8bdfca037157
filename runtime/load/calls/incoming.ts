/** A phone of the load answers a call. */
import type { ServerTransaction } from '../../embedded/stack/index.ts';
import { type FarEnd, Sound } from '../media/sound.ts';
import { Dialog } from '../sip/dialog.ts';
import { describe } from '../sip/sdp.ts';
import { Leg } from './leg.ts';
import { type CallTools, usableFarEnd } from './tools.ts';

/** An answered call. */
export interface Answered {
  readonly leg: Leg;
  readonly sound: Sound;
  readonly far: FarEnd;
}

/**
 * Rings, and answers after a while.
 * @param ringMs time to ring
 * @returns undefined when it was cancelled, or refused for a useless session description
 */
export async function answer(
  tools: CallTools,
  login: string,
  transaction: ServerTransaction,
  ringMs: number,
): Promise<Answered | undefined> {
  const { agent, plan } = tools;
  const contact = agent.contactOf(login);
  const far = usableFarEnd(transaction.request.body, tools);
  if (typeof far === 'string') {
    transaction.reply(488, { reason: far });
    return undefined;
  }
  transaction.reply(180, { headers: { Contact: contact } });
  const sound = await Sound.open(tools);
  await ring(transaction, ringMs);
  const description = describe(plan.localHost, sound.port, [far.payloadType]);
  const dialog = transaction.open ? Dialog.ofCalled(transaction.request, transaction.localTag) : undefined;
  const headers = { Contact: contact, 'Content-Type': 'application/sdp' };
  // Cancelled meanwhile.
  if (dialog === undefined || !transaction.reply(200, { headers, body: description })) {
    sound.close();
    return undefined;
  }
  return { leg: new Leg(agent, login, dialog, sound, description), sound, far };
}

/** Waits for the end of the time to ring, or for CANCEL. */
async function ring(transaction: ServerTransaction, ringMs: number): Promise<void> {
  if (ringMs === 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ringMs);
    transaction.onCancel = () => {
      clearTimeout(timer);
      transaction.reply(487);
      resolve();
    };
  });
}
