/** TLS of a stream transport. */
import type { Socket } from 'node:net';
import type * as Tls from 'node:tls';

/** A certificate with its chain, and its key. */
export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** What a {@link SecureServer} reports. */
export interface SecureServerEvents {
  /** A handshake is done. */
  secured(socket: Tls.TLSSocket): void;
  /** A handshake failed; its socket is closed. */
  refused(reason: string, socket: Socket): void;
}

/** Older versions are refused (RFC 8996). */
export const MIN_VERSION = 'TLSv1.2';

/** Performs TLS handshakes, with a certificate that can be replaced while connections are open. */
export class SecureServer {
  readonly #server: Tls.Server;

  /** @param handshakeTimeout ms */
  constructor(tls: typeof Tls, certificate: Certificate, handshakeTimeout: number, events: SecureServerEvents) {
    this.#server = tls.createServer({ ...certificate, minVersion: MIN_VERSION, handshakeTimeout });
    this.#server.on('secureConnection', (socket) => events.secured(socket));
    this.#server.on('tlsClientError', (error, socket) => {
      events.refused(error.message, socket);
      socket.destroy();
    });
  }

  /** Begins the handshake of an accepted connection. */
  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Uses another certificate for connections from now on. */
  replace(certificate: Certificate): void {
    this.#server.setSecureContext({ ...certificate, minVersion: MIN_VERSION });
  }
}
