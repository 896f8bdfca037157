/** A server that webhooks are sent to. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Number of the request on its path, from 1. */
  readonly attempt: number;
}

/** Status of the answer; undefined: none. */
export type Answer = (received: Received) => number | { readonly status: number; readonly headers: object } | undefined;

export class Receiver {
  readonly received: Received[] = [];
  readonly base: string;
  readonly #close: () => void;

  private constructor(base: string, close: () => void) {
    this.base = base;
    this.#close = close;
  }

  static async start(answer: Answer = () => 200): Promise<Receiver> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        const attempt = receiver.of(path).length + 1;
        const received = { path, headers: request.headers, body, attempt };
        receiver.received.push(received);
        const given = answer(received);
        const { status, headers } = typeof given === 'number' ? { status: given, headers: {} } : (given ?? {});
        if (status !== undefined) response.writeHead(status, { ...headers }).end('thanks');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const receiver = new Receiver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      server.closeAllConnections();
      server.close();
    });
    return receiver;
  }

  /** Requests to a path, in order. */
  of(path: string): readonly Received[] {
    return this.received.filter((each) => each.path === path);
  }

  close(): void {
    this.#close();
  }
}
