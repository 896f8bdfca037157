import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Longest message a debugger may send, in bytes. */
const MESSAGE_BYTES = 1_048_576;

/** A run that a debugger may attach to. */
export interface DebugTarget {
  /** A message of the inspector protocol, from the debugger. */
  inspect(message: string): void;
  /** The debugger went away. */
  detached(): void;
}

/**
 * Lets debuggers in, one for each run, once: `ws://127.0.0.1:PORT/SECRET`, the secret being the run's own. Web pages
 * are turned away.
 */
export class DebugServer {
  readonly #server: WebSocketServer;
  /** Rejects when the port cannot be had. */
  readonly listening: Promise<void>;
  readonly #targets = new Map<string, DebugTarget>();
  readonly #sockets = new Map<string, WebSocket>();

  /** @param port TCP port on the loopback address; 0: any */
  constructor(port: number) {
    this.#server = new WebSocketServer({
      host: '127.0.0.1',
      port,
      maxPayload: MESSAGE_BYTES,
      verifyClient: ({ req }: { req: IncomingMessage }) =>
        req.headers.origin === undefined && this.#isFree(secretOf(req.url)),
    });
    this.listening = new Promise((resolve, reject) => {
      this.#server.once('listening', resolve);
      this.#server.once('error', reject);
    });
    this.#server.on('connection', (socket, { url }) => this.#connect(socket, secretOf(url)));
  }

  /**
   * Opens a way to a run.
   * @returns its secret, and the address to give to the debugger
   */
  offer(target: DebugTarget): { readonly secret: string; readonly url: Promise<string> } {
    const secret = randomUUID();
    this.#targets.set(secret, target);
    const url = this.listening.then(() => `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${secret}`);
    return { secret, url };
  }

  /** A message of the inspector protocol, to the debugger, if there is one. */
  tell(secret: string, message: string): void {
    this.#sockets.get(secret)?.send(message);
  }

  /** The run is over. */
  withdraw(secret: string): void {
    this.#targets.delete(secret);
    this.#sockets.get(secret)?.close(1000, 'the run is over');
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.terminate();
    this.#server.close();
  }

  #isFree(secret: string): boolean {
    return this.#targets.has(secret) && !this.#sockets.has(secret);
  }

  #connect(socket: WebSocket, secret: string): void {
    this.#sockets.set(secret, socket);
    // oxlint-disable-next-line typescript/no-base-to-string -- a text message, for debuggers send no other
    socket.on('message', (message) => this.#targets.get(secret)?.inspect(String(message)));
    // The close that follows is what counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(secret);
      this.#targets.get(secret)?.detached();
      this.#targets.delete(secret);
    });
  }
}

function secretOf(url: string | undefined): string {
  return (url ?? '').slice(1);
}
