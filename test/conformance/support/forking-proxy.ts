import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

/**
 * A stateless forking proxy over UDP (RFC 3261 section 16.11) without Record-Route: every INVITE and CANCEL goes
 * to all of its targets, and every response back. Any other message is an error of the sender.
 */
export class ForkingProxy {
  readonly #socket: Socket;
  readonly #targets: readonly number[];
  #client: RemoteInfo | undefined;

  private constructor(socket: Socket, targets: readonly number[]) {
    this.#socket = socket;
    this.#targets = targets;
    socket.on('message', (data, from) => this.#receive(data.toString('latin1'), from));
  }

  /** @param targets ports on 127.0.0.1 */
  static async open(targets: readonly number[]): Promise<ForkingProxy> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new ForkingProxy(socket, targets);
  }

  get uri(): string {
    return `sip:everybody@127.0.0.1:${this.#socket.address().port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  #receive(text: string, from: RemoteInfo): void {
    if (text.startsWith('SIP/2.0 ')) {
      // The topmost Via is its own.
      if (this.#client !== undefined) this.#send(text.replace(/^Via: .*\r\n/m, ''), this.#client.port);
      return;
    }
    this.#client = from;
    const branch = /^Via: .*;branch=([^;\r]+)/m.exec(text)?.[1] ?? '';
    for (const [index, port] of this.#targets.entries()) {
      const via = `Via: SIP/2.0/UDP 127.0.0.1:${this.#socket.address().port};branch=${branch}-${index}\r\n`;
      this.#send(text.replace(/^Via: /m, `${via}Via: `), port);
    }
  }

  #send(text: string, port: number): void {
    this.#socket.send(Buffer.from(text, 'latin1'), port, '127.0.0.1');
  }
}
