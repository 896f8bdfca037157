import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLS, TLS_KEY } from './certificates.ts';

/** Serves certificates by HTTPS on 127.0.0.1. */
export class CertificateServer {
  readonly #server: Server;
  readonly #answers = new Map<string, { readonly status: number; readonly body: string }>();
  /** The paths that were asked for. */
  readonly asked: string[] = [];

  private constructor() {
    this.#server = createServer({ key: TLS_KEY, cert: TLS }, (request, response) => {
      const path = request.url ?? '';
      this.asked.push(path);
      const { status, body } = this.#answers.get(path) ?? { status: 404, body: '' };
      response.writeHead(status, { connection: 'close' }).end(body);
    });
  }

  static async start(): Promise<CertificateServer> {
    const made = new CertificateServer();
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  /** @returns the URL of the body */
  put(path: string, body: string, status = 200): string {
    this.#answers.set(path, { status, body });
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
