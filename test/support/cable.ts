import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP connection to a server that a test can cut, in place of a restart of the server. */
export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;
  /** All bytes that went through it, in both directions, once set. */
  record: Buffer[] | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param to port of the server on 127.0.0.1 */
  static async to(port: number): Promise<Cable> {
    const server = createServer();
    const cable = new Cable(server);
    server.on('connection', (socket) => cable.#connect(socket, port));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return cable;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all connections, and accepts none until `mend`. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#cut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #connect(socket: Socket, port: number): void {
    if (this.#cut) {
      socket.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    for (const end of [socket, far]) {
      this.#sockets.add(end);
      end.on('error', () => undefined);
      end.on('data', (chunk) => this.record?.push(chunk));
      end.on('close', () => {
        this.#sockets.delete(end);
        socket.destroy();
        far.destroy();
      });
    }
    socket.pipe(far).pipe(socket);
  }
}
