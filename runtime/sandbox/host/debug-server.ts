import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** Longest message a debugger may send, in bytes. */
const MESSAGE_BYTES = 1_048_576;
/** Status of a WebSocket that is closed (IANA's registry, beside RFC 6455 section 7.4). */
const TRY_AGAIN_LATER = 1013;
/** What a debugger asks for first. */
const VERSION = { Browser: `ringmaster/${process.version}`, 'Protocol-Version': '1.3' };

/** A run that a debugger may attach to. */
export interface DebugTarget {
  readonly title: string;
  /** Of the script: breakpoints are set by it. */
  readonly url: string;
  /** A message of the inspector protocol, from the debugger. */
  inspect(message: string): void;
  /** The debugger went away. */
  detached(): void;
}

/**
 * Lets debuggers in, one for each run, once. They find the runs that wait at `/json/list`, as those of Node.js are found
 * (Chrome DevTools Protocol), and connect to `ws://127.0.0.1:PORT/SECRET`. Web pages are turned away: by their Origin, and
 * by a Host that is no loopback address.
 */
export class DebugServer {
  readonly #http: Server;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES });
  /** Rejects when the port cannot be had. */
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
   * Opens a way to a run.
   * @returns its secret, and the address to give to the debugger
   */
  offer(target: DebugTarget): { readonly secret: string; readonly url: Promise<string> } {
    const secret = randomUUID();
    this.#targets.set(secret, target);
    return { secret, url: this.listening.then(() => this.#address(secret)) };
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
      // Chrome knows no other way to find the end.
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
      // Refused, VS Code would try the same address for a minute; closed, it looks for the next run.
      if (this.#sockets.has(secret)) connected.close(TRY_AGAIN_LATER, 'another debugger is there');
      else this.#connect(connected, secret);
    });
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

/** A request that no web page made, whatever name it was reached by: those always say whom they ask. */
function isLocal({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined && (host === undefined || /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host));
}
