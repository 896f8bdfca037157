/** INVITE client transactions. */
import type { TransitionTable } from '../../transitions/index.ts';
import { ClientMachine, type ClientMachineParts } from './client-machine.ts';
import type { SipResponse } from './message.ts';

export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';
export type InviteClientEvent =
  | 'provisional'
  | 'success'
  | 'failure'
  | 'timerA'
  | 'timerB'
  | 'timerD'
  | 'timerM'
  | 'transportError';

/** RFC 3261 figure 5 with the Accepted state of RFC 6026 section 7.2. */
const INVITE_CLIENT_TRANSITIONS: TransitionTable<InviteClientState, InviteClientEvent> = {
  calling: {
    provisional: 'proceeding',
    success: 'accepted',
    failure: 'completed',
    timerA: 'calling',
    timerB: 'terminated',
    transportError: 'terminated',
  },
  proceeding: {
    provisional: 'proceeding',
    success: 'accepted',
    failure: 'completed',
    // Set only after a CANCEL (RFC 3261 section 9.1, last paragraph).
    timerB: 'terminated',
    transportError: 'terminated',
  },
  completed: { failure: 'completed', timerD: 'terminated', transportError: 'terminated' },
  accepted: { success: 'accepted', timerM: 'terminated' },
  terminated: {},
};

/** INVITE client transaction (RFC 3261 section 17.1.1, RFC 6026 section 8.4). */
export class InviteClientTransaction extends ClientMachine<InviteClientState, InviteClientEvent> {
  readonly #ackFor: (response: SipResponse) => Buffer;
  /** The ACK, kept for 32 s as text: a small Buffer keeps its whole pool of 64 KB in memory. */
  #ack: string | undefined;

  /** @param ackFor builds the ACK for a final response other than 2xx (section 17.1.1.3). */
  constructor(parts: ClientMachineParts, ackFor: (response: SipResponse) => Buffer) {
    super(parts, INVITE_CLIENT_TRANSITIONS, 'calling');
    this.#ackFor = ackFor;
  }

  /** Sends the INVITE. */
  start(): void {
    this.begin(
      () => this.#timerB(),
      () => this.#timerA(),
    );
  }

  /** Continues the transaction of a ringing INVITE that an earlier process sent. Sends nothing. */
  resume(): void {
    this.step('provisional');
  }

  override receive(response: SipResponse): void {
    const event = response.status < 200 ? 'provisional' : response.status < 300 ? 'success' : 'failure';
    const from = this.step(event);
    if (from === undefined) return;
    if (from === 'completed') {
      this.#sendAck(response);
      return;
    }
    if (from === 'calling') this.stop();
    if (event === 'failure') {
      this.stop();
      this.#sendAck(response);
      // The user gets the response before the transaction can terminate.
      this.user.response(response);
      this.#endAfter(this.channel.reliable ? 0 : this.values.d, 'timerD');
      return;
    }
    if (event === 'success' && from !== 'accepted') {
      this.stop();
      this.#endAfter(64 * this.values.t1, 'timerM');
    }
    this.user.response(response);
  }

  /** After a CANCEL: without a final response within 64*T1 the INVITE counts as cancelled (section 9.1). */
  expectFinal(): void {
    if (this.state !== 'proceeding' || this.timeout !== undefined) return;
    this.timeout = this.timers.set(64 * this.values.t1, () => this.#timerB());
  }

  #timerA(): void {
    if (this.step('timerA') === undefined) return;
    this.interval *= 2;
    this.repeat(() => this.#timerA());
  }

  #timerB(): void {
    if (this.step('timerB') !== undefined) this.fail('timeout');
  }

  #endAfter(ms: number, event: 'timerD' | 'timerM'): void {
    this.timeout = this.timers.set(ms, () => {
      if (this.step(event) !== undefined) this.end();
    });
  }

  #sendAck(response: SipResponse): void {
    this.#ack ??= this.#ackFor(response).toString('latin1');
    this.channel.send(Buffer.from(this.#ack, 'latin1'));
  }
}
