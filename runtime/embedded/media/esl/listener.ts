/** The inbound event socket. */
import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { ListenError } from '../../listen-error.ts';
import type { MediaCore } from '../core/media-core.ts';
import { EslConnection } from './connection.ts';
import { EslSession } from './session.ts';

/** Limit for a client to authenticate, ms. */
const AUTH_TIMEOUT_MS = 60_000;

/** Largest number of connections; more are refused. */
const MAX_CONNECTIONS = 2000;

/**
 * Largest number of unauthenticated connections. A further one replaces the oldest, so that new clients can still
 * connect.
 */
const MAX_UNAUTHENTICATED = 100;

/** The inbound event socket: clients connect, authenticate, and command the server. */
export class EslListener {
  readonly #core: MediaCore;
  readonly #password: string;
  readonly #server: Server;
  readonly #connections = new Set<EslConnection>();
  /** In order of their connection. */
  readonly #unauthenticated = new Set<EslConnection>();

  constructor(core: MediaCore, password: string) {
    this.#core = core;
    this.#password = password;
    this.#server = createServer((socket) => {
      if (this.#connections.size >= MAX_CONNECTIONS) socket.destroy();
      else this.#accept(new EslConnection(socket));
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Listens; rejects with ListenError. Returns `ip:port`. */
  async listen(address: { readonly host: string; readonly port: number }): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ListenError(error.code ?? 'UNKNOWN', `${address.host}:${address.port}`, 'event socket'));
    });
    this.#server.listen(address.port, address.host, () => {
      const bound = this.#server.address() as AddressInfo;
      resolve(`${bound.address}:${bound.port}`);
    });
    return await promise;
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const connection of this.#connections) connection.destroy();
    await promise;
  }

  #accept(connection: EslConnection): void {
    this.#connections.add(connection);
    this.#unauthenticated.add(connection);
    if (this.#unauthenticated.size > MAX_UNAUTHENTICATED) this.#dropOldest();
    const cancelTimeout = this.#core.timers.after(AUTH_TIMEOUT_MS, () => connection.disconnect());
    connection.onClose = () => {
      cancelTimeout();
      this.#unauthenticated.delete(connection);
      this.#connections.delete(connection);
      this.#core.bus.remove(connection);
    };
    connection.onCommand = ({ line }) => {
      if (/^(?:exit|quit)\b/.test(line)) {
        connection.reply('+OK bye');
        connection.disconnect();
      } else if (!line.startsWith('auth ')) connection.reply('-ERR command not found');
      else if (this.#matches(line.slice(5))) {
        cancelTimeout();
        this.#unauthenticated.delete(connection);
        connection.reply('+OK accepted');
        EslSession.open(this.#core, connection, undefined);
      } else {
        connection.reply('-ERR invalid');
        connection.disconnect();
      }
    };
    connection.requestAuth();
  }

  #dropOldest(): void {
    const [oldest] = this.#unauthenticated;
    if (oldest === undefined) return;
    this.#unauthenticated.delete(oldest);
    oldest.destroy();
  }

  /** Compares in constant time: digests, so that the lengths are equal. */
  #matches(given: string): boolean {
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(given), digest(this.#password));
  }
}
