import { EmbeddedSipServer } from '../../../runtime/embedded/sip/server.ts';
import type { SipServerOptions } from '../../../runtime/embedded/sip/options.ts';
import { parseMessage, type SipRequest, type SipResponse, type Timers } from '../../../runtime/embedded/stack/index.ts';
import { AppClient } from './app-client.ts';
import { SipPeer } from './sip-peers.ts';
import { FAST } from './srf-client.ts';

/** One parsed frame of the server. */
export interface Frame {
  readonly fields: readonly string[];
  readonly text: string;
  readonly message: SipRequest | SipResponse | undefined;
}

/** A server in this thread, a hand-driven application and a phone on UDP and TCP. */
export class RawNode {
  readonly server: EmbeddedSipServer;
  readonly app: AppClient;
  readonly phone: SipPeer;
  readonly port: number;

  private constructor(server: EmbeddedSipServer, app: AppClient, phone: SipPeer) {
    this.server = server;
    this.app = app;
    this.phone = phone;
    this.port = Number(server.addresses.sip.split(':')[1]);
  }

  /** @param timers with time controlled by the test */
  static async start(
    verbs: readonly string[],
    options: Partial<SipServerOptions> = {},
    timers?: Timers,
  ): Promise<RawNode> {
    const defaults = {
      app: '127.0.0.1:0',
      secret: 's',
      sip: ['127.0.0.1:0'],
      timerValues: FAST,
      cdrs: false,
    };
    const server = await EmbeddedSipServer.open({ ...defaults, ...options }, timers);
    const node = new RawNode(server, await AppClient.connect(server.addresses.app), await SipPeer.open('127.0.0.1', 0));
    await node.login(node.app, verbs);
    return node;
  }

  async login(app: AppClient, verbs: readonly string[]): Promise<void> {
    app.send('a|authenticate|s|');
    for (const verb of verbs) app.send(`r|route|${verb}`);
    for (let i = 0; i <= verbs.length; i += 1) await this.frame(app);
  }

  async close(): Promise<void> {
    this.app.destroy();
    this.phone.close();
    await this.server.close();
  }

  /** The application's next frame. */
  async frame(app = this.app, within = 2000): Promise<Frame> {
    const text = await app.inbox.take(within);
    if (text === undefined) throw new Error(`no frame within ${within} ms`);
    const at = text.indexOf('\r\n');
    const sip = at < 0 ? '' : text.slice(at + 2);
    return {
      text,
      fields: (at < 0 ? text : text.slice(0, at)).split('|'),
      message:
        sip.includes('\r\n\r\n') && !text.includes('|NOK|') ? parseMessage(Buffer.from(sip, 'latin1')) : undefined,
    };
  }

  /** The phone's next message of that kind (`INVITE`, `200`); others before it are dropped. */
  async heard(what: string, within = 2000): Promise<SipRequest | SipResponse> {
    for (;;) {
      const text = await this.phone.inbox.take(within);
      if (text === undefined) throw new Error(`the phone did not hear ${what} within ${within} ms`);
      const message = parseMessage(Buffer.from(text, 'latin1'));
      if ((message.kind === 'request' ? message.method : String(message.status)) === what) return message;
    }
  }

  /** A request from the phone, with further header lines in `extra`. */
  say(
    method: string,
    extra: readonly string[] = [],
    { branch = method, to = '', cseq = 1, body = '' } = {},
  ): Promise<void> {
    const lines = [
      `${method} sip:service@127.0.0.1:${this.port} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.phone.port};branch=z9hG4bK-${branch}`,
      'From: <sip:alice@127.0.0.1>;tag=alice1',
      `To: <sip:service@127.0.0.1>${to === '' ? '' : `;tag=${to}`}`,
      'Call-ID: call-1',
      `CSeq: ${cseq} ${method}`,
      'Max-Forwards: 70',
      ...extra,
      `Content-Length: ${body.length}`,
    ];
    return this.phone.sendUdp(`${lines.join('\r\n')}\r\n\r\n${body}`, this.port);
  }

  /** The phone's answer to a request of the server. */
  answer(request: SipRequest | SipResponse, status: string, tag: string, extra: readonly string[] = []): Promise<void> {
    const to = request.header('to') ?? '';
    const lines = [
      `SIP/2.0 ${status}`,
      `Via: ${request.header('via')}`,
      `From: ${request.header('from')}`,
      `To: ${to.includes(';tag=') ? to : `${to};tag=${tag}`}`,
      `Call-ID: ${request.callId}`,
      `CSeq: ${request.header('cseq')}`,
      ...extra,
      'Content-Length: 0',
    ];
    return this.phone.sendUdp(`${lines.join('\r\n')}\r\n\r\n`, this.port);
  }
}
