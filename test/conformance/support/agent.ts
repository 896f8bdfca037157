import { Dialog } from '../../phones/sip/dialog.ts';
import type { ConnectedOptions } from '../../phones/sip/connected-transport.ts';
import { SipEndpoint } from '../../phones/sip/endpoint.ts';
import { header, type SipHeader, type SipRequest, type SipResponse, token } from '../../phones/sip/message.ts';
import type { ServerTransaction } from '../../phones/sip/server-transaction.ts';
import type { Protocol } from '../../phones/sip/transport.ts';
import { Arrivals } from '../../phones/wait.ts';
import { sdp } from './sdp.ts';

const SDP: SipHeader = { name: 'Content-Type', value: 'application/sdp' };

/**
 * A far end fully controlled by the test: every request waits for the test's answer, and nothing is sent unasked.
 * It has no media, unlike the test phone.
 */
export class Agent {
  readonly #requests = new Arrivals<ServerTransaction>('request');
  readonly #cancels = new Arrivals<ServerTransaction>('CANCEL');
  #endpoint!: SipEndpoint;
  /** The Contact of a provisional response is the application's, which here is the test. */
  readonly #forgiven: RegExp[] = [/\b1\d\d to INVITE has 0 Contact values/];

  /**
   * @param connection for TLS and WebSockets
   * @param address its IP address; default 127.0.0.1
   */
  static async open(protocol: Protocol = 'udp', connection?: ConnectedOptions, address?: string): Promise<Agent> {
    const agent = new Agent();
    const events = {
      request: (transaction: ServerTransaction) => agent.#requests.push(transaction),
      cancelled: (transaction: ServerTransaction) => agent.#cancels.push(transaction),
    };
    agent.#endpoint = await SipEndpoint.open(protocol, events, {
      ...(connection === undefined ? {} : { connection }),
      ...(address === undefined ? {} : { address }),
    });
    return agent;
  }

  get endpoint(): SipEndpoint {
    return this.#endpoint;
  }

  /** Its Contact, at which it can be called. */
  get uri(): string {
    const { protocol, hostPort } = this.#endpoint;
    const transport = protocol === 'udp' ? '' : `;transport=${protocol === 'wss' ? 'ws' : protocol}`;
    return `sip:far@${hostPort}${transport}`;
  }

  get contact(): SipHeader {
    return { name: 'Contact', value: `<${this.uri}>` };
  }

  /** Violations of RFC 3261 by the server. */
  get violations(): readonly string[] {
    return this.#endpoint.violations.filter((what) => !this.#forgiven.some((pattern) => pattern.test(what)));
  }

  /** Expected consequences of the test's own mistakes. */
  forgive(pattern: RegExp): void {
    this.#forgiven.push(pattern);
  }

  /** The next request, which must have this method. */
  async request(method: string, withinMs = 3000): Promise<ServerTransaction> {
    const transaction = await this.#requests.next(withinMs);
    if (transaction.request.method !== method) {
      throw new Error(`expected ${method}, got ${transaction.request.method}`);
    }
    return transaction;
  }

  /** The INVITE of the next CANCEL, which has been answered already. */
  async cancelled(withinMs = 3000): Promise<ServerTransaction> {
    return this.#cancels.next(withinMs);
  }

  /** Answers an INVITE with 200 and a session description; waits for the ACK and returns the dialog. */
  async answer(invite: ServerTransaction, body = sdp(41_000)): Promise<{ dialog: Dialog; ack: SipRequest }> {
    const dialog = Dialog.ofCalled(invite.request, invite.localTag, this.uri);
    invite.respond(200, { headers: [this.contact, SDP], body });
    return { dialog, ack: await invite.acked };
  }

  /** A request outside any dialog; settles with the final response, or undefined without one. */
  async send(
    method: string,
    target: string,
    options: Parameters<Agent['start']>[2] = {},
  ): Promise<SipResponse | undefined> {
    return this.start(method, target, options).final;
  }

  /**
   * Starts a request outside any dialog, so that it can be cancelled.
   * @param options.contact false: without its own Contact
   */
  start(
    method: string,
    target: string,
    options: {
      headers?: readonly SipHeader[];
      body?: string;
      contact?: boolean;
      provisional?(response: SipResponse): void;
    } = {},
  ): ReturnType<SipEndpoint['send']> {
    const body = options.body ?? (method === 'INVITE' ? sdp(41_000) : '');
    const request: SipRequest = {
      kind: 'request',
      method,
      uri: target,
      headers: [
        { name: 'From', value: `"far" <sip:far@${this.#endpoint.hostPort}>;tag=${token()}` },
        { name: 'To', value: `<${target}>` },
        { name: 'Call-ID', value: `${token()}@127.0.0.1` },
        { name: 'CSeq', value: `1 ${method}` },
        ...(options.contact === false ? [] : [this.contact]),
        ...(method === 'INVITE' ? [SDP] : []),
        ...(options.headers ?? []),
      ],
      body,
    };
    // The endpoint is that of the test phone, which never offers 100rel.
    if (header(request, 'supported')?.includes('100rel') === true)
      this.forgive(/Require: 100rel, which was not offered/);
    const { provisional } = options;
    return this.#endpoint.send(
      request,
      this.#endpoint.peerOf(target),
      provisional === undefined ? {} : { provisional },
    );
  }

  /** Calls and, once answered, acknowledges. */
  async call(target: string, headers: readonly SipHeader[] = []): Promise<{ dialog: Dialog; answer: SipResponse }> {
    const transaction = this.start('INVITE', target, { headers });
    const answer = await transaction.final;
    if (answer === undefined || answer.status >= 300) throw new Error(`the call got ${answer?.status ?? 'no answer'}`);
    const dialog = Dialog.ofCaller(transaction.request, answer);
    const number = Number(header(transaction.request, 'cseq')?.split(' ')[0]);
    this.#endpoint.sendAck(dialog.request('ACK', [], '', number), this.#endpoint.peerOf(dialog.nextHop));
    return { dialog, answer };
  }

  /** A request inside a dialog; settles with the final response. */
  async inDialog(
    dialog: Dialog,
    method: string,
    headers: readonly SipHeader[] = [],
    body = '',
  ): Promise<SipResponse | undefined> {
    const type = body === '' || headers.some(({ name }) => name === 'Content-Type') ? [] : [SDP];
    const request = dialog.request(method, [this.contact, ...headers, ...type], body);
    return this.#endpoint.send(request, this.#endpoint.peerOf(dialog.nextHop)).final;
  }

  async close(): Promise<void> {
    await this.#endpoint.close();
  }
}
