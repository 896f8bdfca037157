/** A SIP dialog of the load's phones (RFC 3261 section 12). */
import { parseNameAddr, SipRequest, type SipMessage, type SipResponse, tagOf } from '../../embedded/stack/index.ts';

/** The state that requests inside a dialog are made of. */
export class Dialog {
  readonly callId: string;
  readonly localTag: string;
  readonly #local: string;
  readonly #remote: string;
  readonly #routes: readonly string[];
  #target: string;
  #cseq: number;

  private constructor(fields: {
    callId: string;
    local: string;
    remote: string;
    routes: readonly string[];
    target: string;
    cseq: number;
  }) {
    this.callId = fields.callId;
    this.#local = fields.local;
    this.#remote = fields.remote;
    this.localTag = tagOf(fields.local) ?? '';
    this.#routes = fields.routes;
    this.#target = fields.target;
    this.#cseq = fields.cseq;
  }

  /** Of a phone that called, made by the 2xx. @throws SipParseError for an unusable Contact */
  static ofCaller(invite: SipRequest, response: SipResponse): Dialog {
    return new Dialog({
      callId: invite.callId,
      local: invite.header('from') ?? '',
      remote: response.header('to') ?? '',
      routes: response.values('record-route').toReversed(),
      target: contactOf(response) ?? invite.uri,
      cseq: invite.cseq.number,
    });
  }

  /** Of a called phone. @throws SipParseError for an unusable Contact */
  static ofCalled(invite: SipRequest, localTag: string): Dialog {
    return new Dialog({
      callId: invite.callId,
      local: `${invite.header('to') ?? ''};tag=${localTag}`,
      remote: invite.header('from') ?? '',
      routes: invite.values('record-route'),
      target: contactOf(invite) ?? parseNameAddr(invite.header('from') ?? '', 'From').uri,
      cseq: 0,
    });
  }

  /** A request of the far end may carry a new Contact. */
  refresh(request: SipRequest): void {
    this.#target = contactOf(request) ?? this.#target;
  }

  /** A request inside the dialog; an ACK has the number of its INVITE. */
  request(method: string): SipRequest {
    if (method !== 'ACK') this.#cseq += 1;
    const request = new SipRequest(method, this.#target);
    for (const route of this.#routes) request.add('Route', route);
    return request
      .add('Max-Forwards', '70')
      .add('From', this.#local)
      .add('To', this.#remote)
      .add('Call-ID', this.callId)
      .add('CSeq', `${this.#cseq} ${method}`);
  }
}

function contactOf(message: SipMessage): string | undefined {
  const contact = message.values('contact')[0];
  return contact === undefined ? undefined : parseNameAddr(contact, 'Contact').uri;
}
