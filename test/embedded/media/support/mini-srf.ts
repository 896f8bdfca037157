import { EventEmitter, once } from 'node:events';
import {
  type ClientTransaction,
  destinationOf,
  formatHostPort,
  initialCSeq,
  newCallId,
  SipEndpoint,
  SipRequest,
  type SipResponse,
  token,
} from '../../../../runtime/embedded/stack/index.ts';

/** Failure response to a createUAC, with `status` like in drachtio-srf. */
export class CallRefused extends Error {
  readonly status: number;
  readonly response: SipResponse;
  constructor(response: SipResponse) {
    super(`Sip non-success response: ${response.status}`);
    this.status = response.status;
    this.response = response;
  }
}

/** The part of drachtio-srf's dialog with the media server that drachtio-fsmrf uses. */
export class MiniDialog extends EventEmitter {
  readonly #srf: MiniSrf;
  readonly #from: string;
  readonly #to: string;
  readonly #callId: string;
  readonly #target: string;
  #cseq: number;
  readonly local = { sdp: '' };
  readonly remote = { sdp: '' };
  byeHeaders: SipRequest | undefined;

  constructor(srf: MiniSrf, invite: SipRequest, response: SipResponse) {
    super();
    this.#srf = srf;
    this.#from = invite.header('from') ?? '';
    this.#to = response.header('to') ?? '';
    this.#callId = invite.callId;
    this.#target = /<([^>]+)>/.exec(response.header('contact') ?? '')?.[1] ?? invite.uri;
    this.#cseq = invite.cseq.number;
    this.local.sdp = invite.body.toString();
    this.remote.sdp = response.body.toString();
  }

  get callId(): string {
    return this.#callId;
  }

  /** Builds a request in the dialog. */
  build(method: string, body = '', cseq?: number): SipRequest {
    if (cseq === undefined) this.#cseq += 1;
    const request = new SipRequest(method, this.#target);
    request.add('Max-Forwards', '70').add('From', this.#from).add('To', this.#to).add('Call-ID', this.#callId);
    request.add('CSeq', `${cseq ?? this.#cseq} ${method}`).add('Contact', this.#srf.contact);
    request.body = Buffer.from(body);
    if (body !== '') request.add('Content-Type', 'application/sdp');
    return request;
  }

  ack(transaction: ClientTransaction, body = ''): void {
    const ack = this.build('ACK', body, transaction.request.cseq.number);
    ack.delete('Contact');
    this.#srf.endpoint.sendAck(transaction, ack, destinationOf(this.#target));
  }

  /** `modify(sdp)`, `modify('hold')`, `modify('unhold')`. */
  async modify(sdp: string): Promise<string> {
    if (sdp === 'hold') this.local.sdp = this.local.sdp.replace(/a=sendrecv\r\n/, 'a=inactive\r\n');
    else if (sdp === 'unhold') this.local.sdp = this.local.sdp.replace(/a=inactive\r\n/, 'a=sendrecv\r\n');
    else this.local.sdp = sdp;
    const { transaction, response } = await this.#srf.send(this.build('INVITE', this.local.sdp));
    this.ack(transaction);
    if (response.status >= 300) throw new CallRefused(response);
    this.remote.sdp = response.body.toString();
    return this.remote.sdp;
  }

  /** Sends any request and returns the final response. */
  async request(method: string, headers: Record<string, string> = {}, body = ''): Promise<SipResponse> {
    const request = this.build(method);
    for (const [name, value] of Object.entries(headers)) request.add(name, value);
    request.body = Buffer.from(body);
    return (await this.#srf.send(request)).response;
  }

  async destroy(): Promise<void> {
    this.#srf.dialogs.delete(this.#callId);
    await this.request('BYE');
    await this.#srf.afterBye;
  }
}

/** The part of drachtio-srf that drachtio-fsmrf needs, on the embedded SIP stack: calls to the media server. */
export class MiniSrf {
  readonly endpoint: SipEndpoint;
  readonly dialogs = new Map<string, MiniDialog>();
  contact = '';
  /** Delays the ACKs of new dialogs. */
  beforeAck: Promise<void> | undefined;
  /** Delays the end of dialogs, after the media server's answer. */
  afterBye: Promise<void> | undefined;

  private constructor() {
    this.endpoint = new SipEndpoint({
      handler: {
        request: (transaction) => {
          const { request } = transaction;
          const dialog = this.dialogs.get(request.callId);
          transaction.reply(dialog === undefined ? 481 : 200);
          if (request.method === 'BYE' && dialog !== undefined) {
            this.dialogs.delete(request.callId);
            dialog.byeHeaders = request;
            dialog.emit('destroy');
          } else dialog?.emit(request.method.toLowerCase(), request);
        },
      },
    });
  }

  static async start(): Promise<MiniSrf> {
    const srf = new MiniSrf();
    const point = await srf.endpoint.listen({ host: '127.0.0.1', port: 0 });
    srf.contact = `<sip:${formatHostPort(point.host, point.port)}>`;
    return srf;
  }

  async close(): Promise<void> {
    await this.endpoint.close();
  }

  async createUAC(uri: string, options: { headers?: Record<string, string>; localSdp?: string }): Promise<MiniDialog> {
    const invite = new SipRequest('INVITE', uri);
    invite.add('Max-Forwards', '70').add('From', `${this.contact};tag=${token()}`).add('To', `<${uri}>`);
    invite.add('Call-ID', newCallId()).add('CSeq', `${initialCSeq()} INVITE`).add('Contact', this.contact);
    for (const [name, value] of Object.entries(options.headers ?? {})) invite.add(name, value);
    if (options.localSdp !== undefined) {
      invite.add('Content-Type', 'application/sdp');
      invite.body = Buffer.from(options.localSdp);
    }
    const { transaction, response } = await this.send(invite);
    if (response.status >= 300) throw new CallRefused(response);
    const dialog = new MiniDialog(this, transaction.request, response);
    this.dialogs.set(dialog.callId, dialog);
    // Without its own SDP drachtio-srf answers the offer with a copy of it, receive only.
    const answer =
      options.localSdp === undefined ? dialog.remote.sdp.replace('t=0 0\r\n', 't=0 0\r\na=recvonly\r\n') : '';
    if (this.beforeAck === undefined) dialog.ack(transaction, answer);
    else void this.beforeAck.then(() => dialog.ack(transaction, answer));
    return dialog;
  }

  /** Sends a request; returns its final response, also a failure. */
  async send(request: SipRequest): Promise<{ transaction: ClientTransaction; response: SipResponse }> {
    const { promise, resolve, reject } = Promise.withResolvers<SipResponse>();
    const transaction = this.endpoint.request(request, destinationOf(request.uri), {
      response: (response) => {
        if (response.status >= 200) resolve(response);
      },
      failed: reject,
    });
    return { transaction, response: await promise };
  }
}

/** Waits for an event, at most `milliseconds`. */
export async function eventWithin(emitter: EventEmitter, event: string, milliseconds: number): Promise<unknown[]> {
  return await once(emitter, event, { signal: AbortSignal.timeout(milliseconds) });
}
