import { createSocket, type Socket } from 'node:dgram';
import { connect, createServer, type Server, type Socket as TcpSocket } from 'node:net';
import { StreamFramer } from '../../../runtime/embedded/stack/index.ts';

/** Messages in order, for a reader that waits. */
export class Inbox {
  readonly #messages: string[] = [];
  readonly #waiting: ((message: string | undefined) => void)[] = [];

  put(message: string): void {
    const taker = this.#waiting.shift();
    if (taker !== undefined) taker(message);
    else this.#messages.push(message);
  }

  /** The next message, or `undefined` after `timeout` ms. */
  async take(timeout: number): Promise<string | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined) return message;
    return new Promise((resolve) => {
      const taker = (taken: string | undefined): void => {
        clearTimeout(timer);
        resolve(taken);
      };
      const timer = setTimeout(() => {
        const at = this.#waiting.indexOf(taker);
        if (at >= 0) this.#waiting.splice(at, 1);
        resolve(undefined);
      }, timeout);
      this.#waiting.push(taker);
    });
  }

  get left(): readonly string[] {
    return this.#messages;
  }
}

/** A phone's socket: UDP, and TCP in both directions, on one port. */
export class SipPeer {
  readonly port: number;
  readonly inbox = new Inbox();
  /** Data received over TCP that is part of no message. */
  bytes = '';
  readonly #host: string;
  readonly #udp: Socket;
  readonly #tcp: Server;
  #connection: TcpSocket | undefined;
  readonly #sockets = new Set<TcpSocket>();

  private constructor(host: string, port: number, udp: Socket, tcp: Server) {
    this.#host = host;
    this.port = port;
    this.#udp = udp;
    this.#tcp = tcp;
    udp.on('message', (data) => this.inbox.put(data.toString('latin1')));
    tcp.on('connection', (socket) => this.#adopt(socket));
  }

  /** @param port 0 for one that is free for both. */
  static async open(host: string, port: number): Promise<SipPeer> {
    for (;;) {
      const udp = createSocket('udp4');
      await new Promise<void>((resolve, reject) => {
        udp.once('error', reject);
        udp.bind(port, host, resolve);
      });
      const tcp = createServer();
      const bound = udp.address().port;
      const free = await new Promise<boolean>((resolve) => {
        tcp.once('error', () => resolve(false));
        tcp.listen(bound, host, () => resolve(true));
      });
      if (free) return new SipPeer(host, bound, udp, tcp);
      udp.close();
      if (port !== 0) throw new Error(`${host}:${port} is taken`);
    }
  }

  /** Resolves after a server in this process has had a turn to read it. */
  async sendUdp(text: string, port: number): Promise<void> {
    await new Promise<void>((resolve) =>
      this.#udp.send(Buffer.from(text, 'latin1'), port, this.#host, () => resolve()),
    );
    for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Over the existing connection, or a new one from this peer's own port number if that is free. */
  async sendTcp(text: string, port: number): Promise<void> {
    if (this.#connection === undefined) {
      await new Promise<void>((resolve) => this.#tcp.close(() => resolve()));
      const socket = connect({ host: this.#host, port, localAddress: this.#host, localPort: this.port });
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      });
      this.#adopt(socket);
    }
    this.#connection?.write(Buffer.from(text, 'latin1'));
  }

  close(): void {
    this.#udp.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#tcp.listening) this.#tcp.close();
  }

  #adopt(socket: TcpSocket): void {
    this.#connection = socket;
    this.#sockets.add(socket);
    const framer = new StreamFramer({
      message: (message) => this.inbox.put(message.toBuffer().toString('latin1')),
      ping: () => undefined,
    });
    socket.on('data', (chunk: Buffer) => {
      if (chunk.length <= 4) this.bytes += chunk.toString('latin1');
      framer.push(chunk);
    });
    socket.on('error', () => undefined);
  }
}
