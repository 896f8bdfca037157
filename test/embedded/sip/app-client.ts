import { connect, type Socket } from 'node:net';
import { AppFramer, encodeFrame } from '../../../runtime/embedded/sip/app-framer.ts';
import { Inbox } from './sip-peers.ts';

/** A hand-driven application: frames in and out unchanged. */
export class AppClient {
  readonly inbox = new Inbox();
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const framer = new AppFramer();
    socket.on('data', (chunk: Buffer) => {
      for (const frame of framer.push(chunk)) this.inbox.put(frame.toString('latin1'));
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** @param address `ip:port` */
  static async connect(address: string): Promise<AppClient> {
    const [host = '', port = ''] = address.split(':');
    const socket = connect({ host, port: Number(port), noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new AppClient(socket);
  }

  send(payload: string): void {
    this.#socket.write(encodeFrame(payload));
  }

  raw(bytes: string): void {
    this.#socket.write(Buffer.from(bytes, 'latin1'));
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
