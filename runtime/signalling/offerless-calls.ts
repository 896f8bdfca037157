/** Patches drachtio-srf's answer to offers in a 200: the parts that it uses. */
import { receivingOnly } from '../sip-facts/index.ts';

interface Options {
  readonly method?: string;
  readonly localSdp?: unknown;
  readonly noAck?: boolean;
  /** Makes the answer of the offer; undefined: the offer itself. */
  readonly answer?: (offer: string) => string;
}
interface Unacknowledged {
  readonly sdp: string;
  ack(sdp: string): Promise<unknown>;
}
type CreateUac = (...args: unknown[]) => unknown;

/**
 * drachtio-srf answers the offer in the response to an offerless INVITE with the same description, `recvonly` for the
 * whole session (srf.js, `is3pcc`). FreeSWITCH then sets two variables and warns that they are deprecated, on every
 * call to a phone; it does not for `recvonly` media. This patch marks the media instead of the session.
 */
export function describeByMedium(srf: object): void {
  const agent = srf as { createUAC: CreateUac };
  const createUAC = agent.createUAC.bind(agent);
  agent.createUAC = (...args) => {
    const at = args.findIndex((arg) => typeof arg === 'object' && arg !== null);
    const options = args[at] as Options | undefined;
    const offers = options?.localSdp !== undefined || (options?.method ?? 'INVITE') !== 'INVITE';
    if (options === undefined || offers || options.noAck === true) return createUAC(...args);
    const callback = typeof args.at(-1) === 'function' ? (args.pop() as CreateUac) : undefined;
    const made = acknowledged(createUAC(...args.with(at, { ...options, noAck: true })), options.answer);
    if (callback === undefined) return made;
    tell(made, callback);
    return agent;
  };
}

function tell(made: Promise<unknown>, callback: CreateUac): void {
  // Outside of the promise, so that an exception of the callback is not taken for a rejection.
  const later = (...result: unknown[]): unknown => setImmediate(callback, ...result);
  made.then((dialog) => later(null, dialog), later);
}

async function acknowledged(calling: unknown, answer: Options['answer'] = (offer) => offer): Promise<unknown> {
  const answered = (await calling) as Partial<Unacknowledged>;
  // An answer without a description is already acknowledged.
  if (answered.sdp === undefined || answered.ack === undefined) return answered;
  return await answered.ack(receivingOnly(answer(answered.sdp)));
}
