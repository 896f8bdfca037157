/** The REST service over TLS, beside the plain one. */
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listenFurther, portOf } from './further-listeners.ts';
import { createFrontedServer, type FrontOptions, refuseClient } from './front.ts';

/** A certificate with its chain, and its key, PEM. */
export interface HttpCertificate {
  readonly cert: string;
  readonly key: string;
}

/** TLS handshakes at a time. Beyond, the oldest is given up, so that a flood of unfinished ones keeps no client out. */
const MOST_HANDSHAKES = 1024;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Older versions are refused (RFC 8996). */
const MIN_VERSION = 'TLSv1.2';

/** Serves the requests of another server over TLS too. */
export class SecureFront {
  readonly #server: TlsServer;
  #closeFurther: (() => void) | undefined;
  /** Unfinished ones by the port of the client, the oldest first. */
  readonly #handshakes = new Map<string, Socket>();

  /** @param plain its handlers of upgrades are used too */
  constructor(plain: Server, handler: RequestListener, certificate: HttpCertificate, options: FrontOptions) {
    const tls = { ...certificate, minVersion: MIN_VERSION, handshakeTimeout: HANDSHAKE_TIMEOUT_MS } as const;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with a certificate it is one of node:https
    this.#server = createFrontedServer(handler, { ...options, tls }) as TlsServer;
    this.#server.on('clientError', refuseClient);
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy());
    this.#server.on('connection', (socket: Socket) => this.#begun(socket));
    this.#server.prependListener('secureConnection', (socket: Socket) => this.#handshakes.delete(peerOf(socket)));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // The first one is the front's own, which this server has too.
      for (const listener of plain.listeners('upgrade').slice(1)) listener.call(plain, request, socket, head);
    });
  }

  /** Uses another certificate for connections from now on; open ones stay. */
  replaceCertificate(certificate: HttpCertificate): void {
    this.#server.setSecureContext({ ...certificate, minVersion: MIN_VERSION });
  }

  /**
   * @param hosts at least one address
   * @returns `https://host:port` of the first one
   * @throws Error of the system for a taken port
   */
  async listen(hosts: readonly string[], port: number): Promise<string> {
    const [host = '127.0.0.1', ...others] = hosts;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', () => undefined);
        resolve();
      });
    });
    const bound = portOf(this.#server);
    this.#closeFurther = await listenFurther(this.#server, others, bound);
    return `https://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  }

  /** Answers the requests in progress, and takes no more. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#closeFurther?.();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#handshakes.values()) socket.destroy();
    this.#server.closeIdleConnections();
    await closed;
  }

  #begun(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
    });
    const [oldest] = this.#handshakes.values();
    if (this.#handshakes.size > MOST_HANDSHAKES) oldest?.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
