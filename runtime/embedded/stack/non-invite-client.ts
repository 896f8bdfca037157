/** Client transactions of other methods than INVITE. */
import type { TransitionTable } from '../../transitions/index.ts';
import { ClientMachine, type ClientMachineParts } from './client-machine.ts';
import type { SipResponse } from './message.ts';

export type NonInviteClientState = 'trying' | 'proceeding' | 'completed' | 'terminated';
export type NonInviteClientEvent = 'provisional' | 'final' | 'timerE' | 'timerF' | 'timerK' | 'transportError';

/** RFC 3261 figure 6. */
const NON_INVITE_CLIENT_TRANSITIONS: TransitionTable<NonInviteClientState, NonInviteClientEvent> = {
  trying: {
    provisional: 'proceeding',
    final: 'completed',
    timerE: 'trying',
    timerF: 'terminated',
    transportError: 'terminated',
  },
  proceeding: {
    provisional: 'proceeding',
    final: 'completed',
    timerE: 'proceeding',
    timerF: 'terminated',
    transportError: 'terminated',
  },
  completed: { timerK: 'terminated' },
  terminated: {},
};

/** Client transaction for every method but INVITE and ACK (RFC 3261 section 17.1.2). */
export class NonInviteClientTransaction extends ClientMachine<NonInviteClientState, NonInviteClientEvent> {
  constructor(parts: ClientMachineParts) {
    super(parts, NON_INVITE_CLIENT_TRANSITIONS, 'trying');
  }

  /** Sends the request. */
  start(): void {
    this.begin(
      () => this.#timerF(),
      () => this.#timerE(),
    );
  }

  override receive(response: SipResponse): void {
    const event = response.status < 200 ? 'provisional' : 'final';
    if (this.step(event) === undefined) return;
    if (event === 'final') this.stop();
    this.user.response(response);
    if (event === 'final') this.#endAfter(this.channel.reliable ? 0 : this.values.t4);
  }

  #timerE(): void {
    const from = this.step('timerE');
    if (from === undefined) return;
    this.interval = from === 'proceeding' ? this.values.t2 : Math.min(2 * this.interval, this.values.t2);
    this.repeat(() => this.#timerE());
  }

  #timerF(): void {
    if (this.step('timerF') !== undefined) this.fail('timeout');
  }

  #endAfter(ms: number): void {
    this.timeout = this.timers.set(ms, () => {
      if (this.step('timerK') !== undefined) this.end();
    });
  }
}
