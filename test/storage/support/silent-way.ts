import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server on which nothing arrives for a while, and nothing says so. */
export class SilentWay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: URL;
  #isSilent = false;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  /** @param target URL of the server */
  static async open(target: string): Promise<SilentWay> {
    const server = createServer();
    const way = new SilentWay(server, new URL(target));
    server.on('connection', (near) => way.#join(near));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return way;
  }

  /** Of the server, over this way. */
  get url(): string {
    const url = new URL(this.#target);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  silence(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  speak(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (data) => to.write(data));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isSilent) from.pause();
    }
  }
}
