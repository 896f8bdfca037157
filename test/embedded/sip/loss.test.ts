import { createSocket, type Socket } from 'node:dgram';
import { expect } from 'chai';
import {
  type ClientTransaction,
  newCallId,
  SipEndpoint,
  SipRequest,
  type SipResponse,
  token,
} from '../../../runtime/embedded/stack/index.ts';
import { RawNode } from './raw-node.ts';
import { FAST, until } from './srf-client.ts';

/** Drops one datagram in ten in each direction; the same ones in every run. */
class LossyLink {
  dropped = 0;
  passed = 0;
  readonly #near = createSocket('udp4');
  readonly #far = createSocket('udp4');
  #seed = 4711;
  #phone = 0;

  /** The phone's next hop, and its address as seen by the server. */
  async open(server: number): Promise<{ near: number; far: number }> {
    for (const socket of [this.#near, this.#far])
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    this.#near.on('message', (data, from) => {
      this.#phone = from.port;
      this.#pass(this.#far, data, server);
    });
    this.#far.on('message', (data) => this.#pass(this.#near, data, this.#phone));
    return { near: this.#near.address().port, far: this.#far.address().port };
  }

  close(): void {
    this.#near.close();
    this.#far.close();
  }

  #pass(socket: Socket, data: Buffer, port: number): void {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31;
    if (this.#seed % 1000 < 100) {
      this.dropped += 1;
      return;
    }
    this.passed += 1;
    socket.send(data, port, '127.0.0.1');
  }
}

const CALLS = 40;

describe('calls with 10 % packet loss each way', () => {
  it('are all set up, held and ended, in both directions', async function () {
    this.timeout(20_000);
    const node = await RawNode.start(['invite', 'bye']);
    const link = new LossyLink();
    const { near, far } = await link.open(node.port);
    const contact = `<sip:phone@127.0.0.1:${far}>`;
    const ended: string[] = [];
    const phone = new SipEndpoint({
      timerValues: FAST,
      handler: {
        request: (transaction) => {
          const { method } = transaction.request;
          if (method === 'BYE') ended.push(`bye ${transaction.request.callId}`);
          if (method === 'INVITE' && !transaction.inDialog) transaction.reply(180, { headers: { Contact: contact } });
          transaction.reply(200, { headers: { Contact: contact } });
        },
      },
    });
    await phone.listenUdp({ host: '127.0.0.1', port: 0 });

    // The application answers all calls; after its own call is established, it holds it and hangs up.
    const serve = async (): Promise<void> => {
      for (;;) {
        const frame = await node.frame(node.app, 15_000).catch(() => undefined);
        if (frame === undefined) return;
        const { fields, message } = frame;
        if (fields[1] !== 'sip' || message === undefined) continue;
        if (message.kind === 'request' && message.method !== 'ACK') {
          node.app.send(`r|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
        } else if (message.kind === 'response' && message.cseq.method === 'INVITE' && message.status === 200) {
          node.app.send(`a|sip||${fields[9]}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
          const held = dialogs.has(fields[9] ?? '');
          dialogs.add(fields[9] ?? '');
          node.app.send(`b|sip||${fields[9]}\r\n${held ? 'BYE' : 'INVITE'} sip:placeholder SIP/2.0\r\n\r\n`);
        }
      }
    };
    const dialogs = new Set<string>();
    void serve();

    const destination = { transport: 'udp' as const, host: '127.0.0.1', port: near };
    const send = (method: string, callId: string, cseq: number, to: string): Promise<SipResponse> =>
      new Promise((resolve, reject) => {
        const request = new SipRequest(method, `sip:service@127.0.0.1:${near}`)
          .add('From', `<sip:phone@x>;tag=${callId}`)
          .add('To', to)
          .add('Call-ID', callId)
          .add('CSeq', `${cseq} ${method}`)
          .add('Contact', contact);
        const transaction: ClientTransaction = phone.request(request, destination, {
          response: (response) => {
            if (response.status < 200) return;
            if (method === 'INVITE') {
              const ack = new SipRequest('ACK', request.uri)
                .add('From', request.header('from') ?? '')
                .add('To', response.header('to') ?? '')
                .add('Call-ID', callId)
                .add('CSeq', `${cseq} ACK`);
              phone.sendAck(transaction, ack, destination);
            }
            resolve(response);
          },
          failed: reject,
        });
      });

    try {
      const callIn = async (): Promise<void> => {
        const callId = newCallId();
        const answered = await send('INVITE', callId, 1, '<sip:service@x>');
        const to = answered.header('to') ?? '';
        expect(answered.status).to.equal(200);
        expect((await send('INVITE', callId, 2, to)).status).to.equal(200);
        expect((await send('BYE', callId, 3, to)).status).to.equal(200);
      };
      const callsIn = Array.from({ length: CALLS }, callIn);
      for (let i = 0; i < CALLS; i += 1) {
        node.app.send(`i|sip||\r\nINVITE sip:phone@127.0.0.1:${far} SIP/2.0\r\nCall-ID: ${token()}\r\n\r\n`);
      }
      await Promise.all(callsIn);
      await until(() => ended.length === CALLS, 'every call of the application ended', 10_000);
      expect(link.dropped / (link.dropped + link.passed)).to.be.within(0.07, 0.13);
      await until(() => node.server.stats.dialogs + node.server.stats.pending === 0, 'nothing left');
    } finally {
      await phone.close();
      await node.close();
      link.close();
    }
  });
});
