/** Calls that the REST service starts between two phones of the load. */
import { parseNameAddr, type ServerTransaction } from '../../embedded/stack/index.ts';
import type { Account, Originate } from '../plan.ts';
import { answer } from './incoming.ts';
import type { CallRecord, Failure } from './record.ts';
import { Conversation } from './talk.ts';
import type { CallTools } from './tools.ts';

/** Longest wait for the answer of a request, milliseconds. */
const REQUEST_MS = 90_000;
/** `response_mode` of a request that is answered when the called party has answered finally. */
const WHEN_CONNECTED = 4;

interface Expected {
  readonly conversation: Conversation;
  readonly record: CallRecord;
  readonly began: number;
  /** Settles when the caller's part of the call is over. */
  readonly over: Promise<void>;
  readonly finish: () => void;
  /** The request is answered with `ok`. */
  connected: Promise<boolean>;
  /** The node has called the caller. */
  isTaken: boolean;
}

/** Starts calls by requests, and answers them at the caller's phone. */
export class OriginatedCalls {
  readonly #tools: CallTools;
  readonly #originate: Originate;
  readonly #expected = new Map<string, Expected>();

  constructor(tools: CallTools, originate: Originate) {
    this.#tools = tools;
    this.#originate = originate;
  }

  /** Starts a call, talks and hangs up. @param number number or login of the called party */
  async start(record: CallRecord, index: number, caller: Account, number: string): Promise<void> {
    const began = performance.now();
    const name = `load-${index}`;
    const { promise: over, resolve: finish } = Promise.withResolvers<void>();
    const conversation = new Conversation(this.#tools.plan, record, index, began);
    const connected = Promise.withResolvers<boolean>();
    const call: Expected = { conversation, record, began, over, finish, connected: connected.promise, isTaken: false };
    this.#expected.set(name, call);
    const failure = await this.#request(caller, number, name);
    if (failure === undefined) record.answered = performance.now() - began;
    else if (this.#tools.stop.aborted) record.isCutShort = true;
    else record.failure ??= failure;
    connected.resolve(failure === undefined);
    if (call.isTaken) await over;
    else if (failure === undefined) record.failure ??= { kind: 'refused', detail: 'no INVITE came to the caller' };
    this.#expected.delete(name);
  }

  /** The node calls a caller's phone. */
  take(login: string, transaction: ServerTransaction): void {
    const name = parseNameAddr(transaction.request.header('from') ?? '', 'From').display.replaceAll('"', '');
    const call = this.#expected.get(name);
    if (call === undefined || call.isTaken) {
      transaction.reply(486);
      return;
    }
    call.isTaken = true;
    call.record.ringing = performance.now() - call.began;
    void this.#serve(login, transaction, call).finally(call.finish);
  }

  async #serve(login: string, transaction: ServerTransaction, call: Expected): Promise<void> {
    const answered = await answer(this.#tools, login, transaction, 0);
    if (answered === undefined) return;
    const { leg, sound, far } = answered;
    call.conversation.connect(sound, far);
    if (await Promise.race([call.connected, leg.dropped.then(() => false)])) {
      await call.conversation.talk(leg, sound, this.#tools);
      return;
    }
    // The caller hears ringback while the other phone is called; a hang-up ends the request.
    await leg.hangUp();
  }

  async #request({ login }: Account, to: string, name: string): Promise<Failure | undefined> {
    const { base, token } = this.#originate;
    const body = JSON.stringify({
      from: login,
      mode: 'sipuser',
      to,
      callername: name,
      response_mode: WHEN_CONNECTED,
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(REQUEST_MS), this.#tools.stop]);
      const response = await fetch(`${base}/uc/calls`, { method: 'POST', headers, body, signal });
      const answered = (await response.json()) as Answered;
      if (!response.ok) {
        return { kind: 'rest', detail: `${response.status} ${answered.error_message ?? response.statusText}` };
      }
      return answered.result === 'ok' ? undefined : { kind: 'refused', detail: whyOf(answered) };
    } catch (error) {
      return { kind: 'rest', detail: (error as Error).name === 'TimeoutError' ? 'no answer' : messageOf(error) };
    }
  }
}

interface Answered {
  readonly result?: string;
  readonly sip_status?: number;
  readonly reason?: string;
  readonly error_message?: string;
}

function whyOf({ result = 'no result', sip_status: status, reason }: Answered): string {
  return status === undefined ? result : `${status} ${reason ?? result}`;
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
