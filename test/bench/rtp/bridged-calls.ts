import { Registration } from '../../phones/registration.ts';
import { parseSdp } from '../../phones/media/sdp.ts';
import { Dialog } from '../../phones/sip/dialog.ts';
import { SipEndpoint } from '../../phones/sip/endpoint.ts';
import { token } from '../../phones/sip/message.ts';
import type { ServerTransaction } from '../../phones/sip/server-transaction.ts';
import { Arrivals } from '../../phones/wait.ts';
import { connectSound, openSound, type SoundSocket } from './streams.ts';

const DOMAIN = 'demo.local';
const WITHIN_MS = 10_000;

/** Two phones with many calls between them or to scenarios, whose RTP sockets belong to the caller of this class. */
export class BridgedCalls {
  /** The sockets of every call: caller's and called party's in turn. */
  readonly sockets: SoundSocket[] = [];
  readonly #answered = new Arrivals<true>('answered call');
  #alice!: SipEndpoint;
  #bob!: SipEndpoint;
  #server: { address: string; port: number } = { address: '', port: 0 };

  /** Registers both phones. @param server `ip:port` */
  static async open(server: string): Promise<BridgedCalls> {
    const calls = new BridgedCalls();
    const [address = '', port] = server.split(':');
    calls.#server = { address, port: Number(port) };
    const cancelled = () => undefined;
    calls.#alice = await SipEndpoint.open('udp', { request: (transaction) => transaction.respond(200), cancelled });
    calls.#bob = await SipEndpoint.open('udp', { request: (transaction) => calls.#receive(transaction), cancelled });
    await calls.#register(calls.#alice, 'alice');
    await calls.#register(calls.#bob, 'bob');
    return calls;
  }

  /** Alice calls bob, who answers at once; settles when both know the other's media address. */
  async call(): Promise<void> {
    await Promise.all([this.callTo('102'), this.#answered.next(WITHIN_MS)]);
  }

  /** Alice calls a party that answers by itself, e.g. the scenario `*55echo`. */
  async callTo(number: string): Promise<void> {
    const sound = await openSound();
    this.sockets.push(sound);
    const invite = {
      kind: 'request' as const,
      method: 'INVITE',
      uri: `sip:${number}@${DOMAIN}`,
      headers: [
        { name: 'From', value: `<sip:alice@${DOMAIN}>;tag=${token()}` },
        { name: 'To', value: `<sip:${number}@${DOMAIN}>` },
        { name: 'Call-ID', value: token() },
        { name: 'CSeq', value: '1 INVITE' },
        { name: 'Contact', value: `<sip:alice@${this.#alice.hostPort}>` },
        { name: 'Content-Type', value: 'application/sdp' },
      ],
      body: description(sound.port),
    };
    const transaction = this.#alice.send(invite, this.#peer(this.#alice));
    const response = await transaction.final;
    if (response?.status !== 200) throw new Error(`the call was refused: ${response?.status ?? 'no answer'}`);
    const ack = Dialog.ofCaller(transaction.request, response).request('ACK', [], '', 1);
    this.#alice.sendAck(ack, this.#peer(this.#alice));
    await connectSound(sound, parseSdp(response.body).port);
  }

  /** Closes every socket; the server must end the calls before. */
  async close(): Promise<void> {
    for (const { socket } of this.sockets) socket.close();
    await Promise.all([this.#alice.close(), this.#bob.close()]);
  }

  #receive(transaction: ServerTransaction): void {
    if (transaction.request.method === 'INVITE') void this.#answer(transaction);
    else transaction.respond(200);
  }

  async #answer(transaction: ServerTransaction): Promise<void> {
    const sound = await openSound();
    this.sockets.push(sound);
    await connectSound(sound, parseSdp(transaction.request.body).port);
    transaction.respond(200, {
      headers: [
        { name: 'Contact', value: `<sip:bob@${this.#bob.hostPort}>` },
        { name: 'Content-Type', value: 'application/sdp' },
      ],
      body: description(sound.port),
    });
    this.#answered.push(true);
  }

  async #register(endpoint: SipEndpoint, login: string): Promise<void> {
    const registration = new Registration(endpoint, this.#peer(endpoint), `sip:${login}@${DOMAIN}`, DOMAIN);
    const contact = `sip:${login}@${endpoint.hostPort}`;
    const credentials = { username: login, password: `demo-${login}` };
    const { status } = await registration.register({ expires: 600, contact, ...credentials });
    if (status !== 200) throw new Error(`${login} cannot register: ${status}`);
  }

  #peer(endpoint: SipEndpoint) {
    return endpoint.peer(this.#server.address, this.#server.port);
  }
}

function description(port: number): string {
  return [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0`,
    'a=rtpmap:0 PCMU/8000',
    '',
  ].join('\r\n');
}
