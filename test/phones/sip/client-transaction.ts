import { header, serialise, type SipRequest, type SipResponse } from './message.ts';
import { TimerSet, type SipTimers } from './timers.ts';
import type { Peer } from './transport.ts';

export interface ClientTransactionEvents {
  provisional?(response: SipResponse): void;
  /** Every further 2xx to an INVITE: retransmissions, or the answer of another fork (section 13.2.2.4). */
  repeated2xx?(response: SipResponse): void;
  sent(message: SipRequest): void;
  violation(what: string): void;
}

type State = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';

/** A client transaction, INVITE or not (RFC 3261 sections 17.1.1 and 17.1.2, with the correction of RFC 6026). */
export class ClientTransaction {
  readonly request: SipRequest;
  readonly branch: string;
  readonly peer: Peer;
  /** The final response, or undefined when the transaction timed out (timer B or F). */
  readonly final: Promise<SipResponse | undefined>;
  readonly #events: ClientTransactionEvents;
  readonly #timers = new TimerSet();
  readonly #settle: (response: SipResponse | undefined) => void;
  readonly #data: Buffer;
  readonly #times: SipTimers;
  readonly #invite: boolean;
  #state: State = 'calling';
  #ack: SipRequest | undefined;

  constructor(request: SipRequest, branch: string, peer: Peer, times: SipTimers, events: ClientTransactionEvents) {
    this.request = request;
    this.branch = branch;
    this.peer = peer;
    this.#events = events;
    this.#times = times;
    this.#data = serialise(request);
    this.#invite = request.method === 'INVITE';
    const { promise, resolve } = Promise.withResolvers<SipResponse | undefined>();
    this.final = promise;
    this.#settle = resolve;
    this.#send(request, this.#data);
    if (peer.protocol === 'udp') this.#retransmitAfter(times.t1);
    this.#timers.after(64 * times.t1, () => this.#giveUp());
  }

  get state(): State {
    return this.#state;
  }

  receive(response: SipResponse): void {
    if (response.status < 200) return this.#provisional(response);
    if (this.#invite) return this.#inviteFinal(response);
    if (this.#state === 'completed') return undefined; // absorbed (section 17.1.2.2, timer K)
    this.#complete('completed', response);
    return undefined;
  }

  close(): void {
    this.#state = 'terminated';
    this.#timers.clear();
    this.#settle(undefined);
  }

  #provisional(response: SipResponse): void {
    if (this.#state !== 'calling' && this.#state !== 'proceeding') {
      this.#events.violation(`${response.status} after the final response to ${this.request.method}`);
      return;
    }
    if (this.#state === 'calling') {
      this.#state = 'proceeding';
      // An INVITE is not repeated and does not time out any more; any other request continues at T2.
      if (this.#invite) this.#timers.clear();
    }
    this.#events.provisional?.(response);
  }

  #inviteFinal(response: SipResponse): void {
    const success = response.status < 300;
    if (this.#state === 'accepted') {
      if (success) this.#events.repeated2xx?.(response);
      else this.#events.violation(`${response.status} after a 2xx to the same INVITE`);
      return;
    }
    if (this.#state === 'completed') {
      if (success) this.#events.violation(`2xx after a failure of the same INVITE`);
      else if (this.#ack !== undefined) this.#send(this.#ack, serialise(this.#ack));
      return;
    }
    if (!success) {
      this.#ack = this.#ackFor(response);
      this.#send(this.#ack, serialise(this.#ack));
    }
    this.#complete(success ? 'accepted' : 'completed', response);
  }

  #complete(state: 'completed' | 'accepted', response: SipResponse): void {
    this.#state = state;
    this.#timers.clear();
    this.#timers.after(64 * this.#times.t1, () => {
      this.#state = 'terminated';
    });
    this.#settle(response);
  }

  /** The ACK to a failure belongs to the transaction: same branch, same Route (section 17.1.1.3). */
  #ackFor(response: SipResponse): SipRequest {
    const number = header(this.request, 'cseq')?.split(' ')[0] ?? '';
    const kept = this.request.headers.filter((entry) =>
      ['from', 'call-id', 'route'].includes(entry.name.toLowerCase()),
    );
    const via = this.request.headers.find((entry) => entry.name.toLowerCase() === 'via');
    return {
      kind: 'request',
      method: 'ACK',
      uri: this.request.uri,
      headers: [
        ...(via === undefined ? [] : [via]),
        ...kept,
        { name: 'To', value: header(response, 'to') ?? '' },
        { name: 'CSeq', value: `${number} ACK` },
        { name: 'Max-Forwards', value: '70' },
      ],
      body: '',
    };
  }

  /** Timer A doubles without end, timer E stops growing at T2. */
  #retransmitAfter(interval: number): void {
    this.#timers.after(interval, () => {
      this.#send(this.request, this.#data);
      const slow = !this.#invite && this.#state === 'proceeding';
      const next = slow ? this.#times.t2 : interval * 2;
      this.#retransmitAfter(this.#invite ? next : Math.min(next, this.#times.t2));
    });
  }

  #giveUp(): void {
    this.#state = 'terminated';
    this.#timers.clear();
    this.#settle(undefined);
  }

  #send(message: SipRequest, data: Buffer): void {
    this.#events.sent(message);
    this.peer.send(data);
  }
}
