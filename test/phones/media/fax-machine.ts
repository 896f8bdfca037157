import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Moment } from '../wait.ts';

/** The fax stream of a session description. */
interface FaxStream {
  readonly address: string;
  readonly port: number;
}

const ATTRIBUTES = [
  'a=T38FaxVersion:0',
  'a=T38MaxBitRate:14400',
  'a=T38FaxRateManagement:transferredTCF',
  'a=T38FaxMaxDatagram:400',
  'a=T38FaxUdpEC:t38UDPRedundancy',
];

/** Whether a description has a fax that is not refused. */
export function isFax(sdp: string): boolean {
  return /^m=image [1-9]\d* udptl t38\r$/m.test(sdp);
}

/** The UDPTL end of a phone that can fax by T.38: it sends numbered datagrams, and keeps what comes. */
export class FaxMachine {
  /** Datagrams received, as they came. */
  readonly received: Buffer[] = [];
  readonly #socket: Socket;
  #target: FaxStream | undefined;
  #waiters: { readonly datagram: Buffer; readonly got: Moment<void> }[] = [];
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      this.received.push(data);
      for (const { datagram, got } of this.#waiters) if (datagram.equals(data)) got.reach(undefined);
    });
    socket.on('error', () => undefined);
  }

  static async open(): Promise<FaxMachine> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new FaxMachine(socket);
  }

  /** The description of a phone's sound with a fax in its place; `keepsSound`: beside the refused sound. */
  describe(sdp: string, options: { readonly keepsSound?: boolean } = {}): string {
    const [session = ''] = sdp.split(/^(?=m=)/m);
    const sound = options.keepsSound === true ? 'm=audio 0 RTP/AVP 0\r\n' : '';
    const { port } = this.#socket.address();
    return `${session}${sound}m=image ${port} udptl t38\r\n${ATTRIBUTES.join('\r\n')}\r\n`;
  }

  /** Sends to the address of a far end's description from now on. */
  connect(sdp: string): void {
    const address = /^c=IN IP4 (\S+)\r$/m.exec(sdp)?.[1] ?? '';
    this.#target = { address, port: Number(/^m=image (\d+) /m.exec(sdp)?.[1]) };
  }

  send(datagram: Buffer): void {
    if (this.#target === undefined) throw new Error('no fax is agreed');
    if (!this.#closed) this.#socket.send(datagram, this.#target.port, this.#target.address);
  }

  /** Waits for this datagram; one that has come counts. */
  async gets(datagram: Buffer, withinMs: number): Promise<void> {
    const got = new Moment<void>('datagram of a fax');
    if (this.received.some((each) => each.equals(datagram))) return;
    this.#waiters.push({ datagram, got });
    await got.wait(withinMs);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
  }
}
