/** SIP over WebSocket at `/sip`: passes the connections of browsers to the SIP server. */
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Logger } from 'pino';
import { RestError } from './errors.ts';
import { refuseForeignOrigin } from './same-origin.ts';

export const SIP_PATH = '/sip';

/** The WebSocket listener of a SIP server. */
export interface SipWebSocketTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Headers for the handshake. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where SIP WebSockets go, and which pages may open them. */
export interface SipWebSockets {
  /** Allowed origins beside the node's own, lower case; `*`: all. */
  readonly origins: readonly string[];
  /** @returns undefined when the SIP server takes no WebSockets */
  target(client: { secure: boolean; address: string; port: number }): SipWebSocketTarget | undefined;
}

const PROTOCOL = 'sip';
/** Headers of the handshake that are passed on (RFC 6455 section 4.1); extensions are not. */
const PASSED = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol'];

/** Passes WebSockets on, byte by byte. */
export class SipTunnels {
  readonly #sip: SipWebSockets;
  readonly #log: Logger;
  readonly #open = new Set<Socket>();

  constructor(sip: SipWebSockets, log: Logger) {
    this.#sip = sip;
    this.#log = log;
  }

  /**
   * Takes an upgrade request to `/sip`.
   * @throws RestError for a foreign page, another subprotocol, or a SIP server without WebSockets
   */
  open(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#refuseForeign(request);
    const { headers } = request;
    const offered = headers['sec-websocket-protocol']?.split(',').map((one) => one.trim().toLowerCase()) ?? [];
    if (!offered.includes(PROTOCOL))
      throw new RestError('BAD_REQUEST', {
        reason: `${SIP_PATH} needs the WebSocket subprotocol "${PROTOCOL}" (RFC 7118)`,
      });
    const { remoteAddress: address = '', remotePort: port = 0 } = request.socket;
    const secure = 'encrypted' in request.socket && request.socket.encrypted === true;
    const target = this.#sip.target({ secure, address: address.replace(/^::ffff:/, ''), port });
    if (target === undefined) throw new RestError('UNAVAILABLE', { reason: 'the SIP server takes no WebSockets' });
    const lines = [
      `GET ${SIP_PATH} HTTP/1.1`,
      `Host: ${target.host}:${target.port}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      ...PASSED.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`])),
      ...Object.entries(target.headers).map(([name, value]) => `${name}: ${value}`),
    ];
    this.#pipe(socket, target, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  }

  close(): void {
    for (const upstream of this.#open) upstream.destroy();
  }

  #pipe(socket: Duplex, { host, port, tls }: SipWebSocketTarget, begin: Buffer): void {
    // The server's certificate is for phones, not for this address; the connection stays within the pair.
    const upstream = tls
      ? connectTls({ host, port, rejectUnauthorized: false })
      : connect({ host, port, noDelay: true });
    this.#open.add(upstream);
    upstream.write(begin);
    upstream.on('error', (err) => this.#log.info({ err, host, port }, 'the SIP server took no WebSocket'));
    upstream.on('close', () => {
      this.#open.delete(upstream);
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => upstream.destroy());
    socket.pipe(upstream).pipe(socket);
  }

  #refuseForeign({ headers, socket }: IncomingMessage): void {
    const origin = headers.origin?.toLowerCase() ?? '';
    if (this.#sip.origins.includes('*') || this.#sip.origins.includes(origin)) return;
    try {
      refuseForeignOrigin(headers);
    } catch (error) {
      this.#log.info({ ip: socket.remoteAddress, origin }, 'SIP WebSocket refused: the origin is not allowed');
      throw error;
    }
  }
}
