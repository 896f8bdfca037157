/** The debug server of the sandbox. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** Largest message from a debugger, in bytes. */
const MESSAGE_BYTES = 1_048_576;
/** WebSocket status of a refused connection (IANA's registry, besides RFC 6455 section 7.4). */
const TRY_AGAIN_LATER = 1013;
/** Paths that debuggers request first. */
const VERSION = { Browser: `ringmaster/${process.version}`, 'Protocol-Version': '1.3' };

/** A run waiting for a debugger. */
export interface DebugTarget {
  readonly title: string;
  /** URL of the script, for breakpoints. */
  readonly url: string;
  /** Handles an inspector protocol message from the debugger. */
  inspect(message: string): void;
  /** The debugger disconnected. */
  detached(): void;
}

/**
 * Accepts one debugger per run, once. Debuggers find waiting runs at `/json/list`, like those of Node.js (Chrome
 * DevTools Protocol), and connect to `ws://127.0.0.1:PORT/SECRET`. Web pages are refused by their Origin, or by a Host
 * other than a loopback address.
 */
export class DebugServer {
  readonly #http: Server;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES });
  /** Rejects when the port is unavailable. */
  readonly listening: Promise<void>;
  readonly #targets = new Map<string, DebugTarget>();
  readonly #sockets = new Map<string, WebSocket>();

  /** @param port TCP port on the loopback address; 0: any */
  constructor(port: number) {
    this.#http = createServer((request, response) => this.#answer(request, response));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.listening = new Promise((resolve, reject) => {
      this.#http.once('listening', resolve);
      this.#http.once('error', reject);
    });
    this.#http.listen(port, '127.0.0.1');
  }

  /** TCP port on the loopback address. */
  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  /**
   * Offers a run to debuggers.
   * @returns its secret, and the address for the debugger
   */
  offer(target: DebugTarget): { readonly secret: string; readonly url: Promise<string> } {
    const secret = randomUUID();
    this.#targets.set(secret, target);
    return { secret, url: this.listening.then(() => this.#address(secret)) };
  }

  /** Sends an inspector protocol message to the debugger, if connected. */
  tell(secret: string, message: string): void {
    this.#sockets.get(secret)?.send(message);
  }

  /** The run has ended. */
  withdraw(secret: string): void {
    this.#targets.delete(secret);
    this.#sockets.get(secret)?.close(1000, 'the run is over');
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.terminate();
    this.#http.close();
    this.#http.closeAllConnections();
  }

  #address(secret: string): string {
    return `ws://127.0.0.1:${this.port}/${secret}`;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const found = isLocal(request) ? this.#document(pathname) : undefined;
    const body = Buffer.from(found === undefined ? '' : JSON.stringify(found));
    response.writeHead(found === undefined ? 404 : 200, {
      'content-type': 'application/json; charset=UTF-8',
      // Chrome needs a Content-Length to find the end.
      'content-length': body.length,
    });
    response.end(body);
  }

  #document(path: string): unknown {
    if (path === '/json/version') return VERSION;
    if (path !== '/json' && path !== '/json/list') return undefined;
    return [...this.#targets]
      .filter(([secret]) => !this.#sockets.has(secret))
      .map(([id, { title, url }]) => ({
        id,
        type: 'node',
        title,
        url,
        description: 'Ringmaster scenario',
        webSocketDebuggerUrl: this.#address(id),
      }));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const secret = (request.url ?? '').slice(1);
    if (!isLocal(request) || !this.#targets.has(secret)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (connected) => {
      // After a refusal, VS Code would retry the address for a minute; after a close, it looks for the next run.
      if (this.#sockets.has(secret)) connected.close(TRY_AGAIN_LATER, 'another debugger is connected');
      else this.#connect(connected, secret);
    });
  }

  #connect(socket: WebSocket, secret: string): void {
    this.#sockets.set(secret, socket);
    // oxlint-disable-next-line typescript/no-base-to-string -- a text message, for debuggers send no other
    socket.on('message', (message) => this.#targets.get(secret)?.inspect(String(message)));
    // The close event follows and is handled.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(secret);
      this.#targets.get(secret)?.detached();
      this.#targets.delete(secret);
    });
  }
}

/** True for a request that no web page can make: those always send the Host that they address. */
function isLocal({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined && (host === undefined || /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host));
}
