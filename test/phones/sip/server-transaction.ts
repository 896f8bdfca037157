import { tagOf } from './address.ts';
import { header, headerLines, serialise, token, type SipHeader, type SipRequest, type SipResponse } from './message.ts';
import { TimerSet, type SipTimers } from './timers.ts';
import type { Peer } from './transport.ts';

export interface ServerTransactionEvents {
  sent(message: SipResponse): void;
  violation(what: string): void;
}

export interface ResponseContent {
  readonly headers?: readonly SipHeader[];
  readonly body?: string;
}

const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  302: 'Moved Temporarily',
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  420: 'Bad Extension',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  500: 'Server Internal Error',
  503: 'Service Unavailable',
  600: 'Busy Everywhere',
  603: 'Decline',
};

/**
 * A server transaction of the phone (RFC 3261 section 17.2). For an INVITE it also repeats the 2xx until the ACK comes,
 * which is the user agent's duty (section 13.3.1.4).
 */
export class ServerTransaction {
  readonly request: SipRequest;
  readonly peer: Peer;
  /** The To tag this phone adds; the one of the request inside a dialog. */
  readonly localTag: string;
  /** The ACK to the final response of an INVITE. */
  readonly acked: Promise<SipRequest>;
  readonly #events: ServerTransactionEvents;
  readonly #times: SipTimers;
  readonly #timers = new TimerSet();
  readonly #acknowledge: (ack: SipRequest) => void;
  #last: SipResponse | undefined;
  #confirmed = false;

  constructor(request: SipRequest, peer: Peer, times: SipTimers, events: ServerTransactionEvents) {
    this.request = request;
    this.peer = peer;
    this.#times = times;
    this.#events = events;
    this.localTag = tagOf(header(request, 'to')) ?? token();
    const { promise, resolve } = Promise.withResolvers<SipRequest>();
    this.acked = promise;
    this.#acknowledge = resolve;
  }

  /** Status of the last response sent, 0 before any. */
  get status(): number {
    return this.#last?.status ?? 0;
  }

  get confirmed(): boolean {
    return this.#confirmed;
  }

  respond(status: number, content: ResponseContent = {}): void {
    if (this.status >= 200) throw new Error(`the ${this.request.method} has been answered with ${this.status} already`);
    this.#last = {
      kind: 'response',
      status,
      reason: REASONS[status] ?? 'Unknown',
      headers: [...this.#copiedHeaders(status), ...(content.headers ?? [])],
      body: content.body ?? '',
    };
    this.#send();
    if (this.request.method === 'INVITE' && status >= 200) this.#awaitAck(status);
  }

  /** The same request again: the last response goes out again. */
  retransmitted(): void {
    if (this.#last !== undefined && !(this.request.method === 'INVITE' && this.#confirmed)) this.#send();
  }

  acknowledged(ack: SipRequest): void {
    this.#confirmed = true;
    this.#timers.clear();
    this.#acknowledge(ack);
  }

  close(): void {
    this.#timers.clear();
  }

  #awaitAck(status: number): void {
    const repeat = (interval: number): void => {
      this.#timers.after(interval, () => {
        this.#send();
        repeat(Math.min(interval * 2, this.#times.t2));
      });
    };
    // A failure is repeated over UDP only (timer G); a 2xx over any transport.
    if (status < 300 || this.peer.protocol === 'udp') repeat(this.#times.t1);
    this.#timers.after(64 * this.#times.t1, () => {
      this.#timers.clear();
      this.#events.violation(`no ACK to the ${status} of the INVITE ${header(this.request, 'call-id') ?? ''}`);
    });
  }

  #copiedHeaders(status: number): SipHeader[] {
    const to = header(this.request, 'to') ?? '';
    const via = headerLines(this.request, 'via').map((value, index) => ({
      name: 'Via',
      // RFC 3581 section 4: a client that asks for rport learns its source port.
      value:
        index === 0
          ? value.replace(/;rport(?![=\w])/i, `;received=${this.peer.address};rport=${this.peer.port}`)
          : value,
    }));
    const recordRoute =
      status > 100 && status < 300
        ? headerLines(this.request, 'record-route').map((value) => ({ name: 'Record-Route', value }))
        : [];
    return [
      ...via,
      ...recordRoute,
      { name: 'From', value: header(this.request, 'from') ?? '' },
      { name: 'To', value: status === 100 || tagOf(to) !== undefined ? to : `${to};tag=${this.localTag}` },
      { name: 'Call-ID', value: header(this.request, 'call-id') ?? '' },
      { name: 'CSeq', value: header(this.request, 'cseq') ?? '' },
    ];
  }

  #send(): void {
    if (this.#last === undefined) return;
    this.#events.sent(this.#last);
    this.peer.send(serialise(this.#last));
  }
}
