import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFrontedServer, type FrontOptions, refuseClient } from '../../../rest-bridge/http/front.ts';
import type { Refusal } from '../../../rest-bridge/http/refusal.ts';

export interface EchoServer {
  readonly server: Server;
  readonly port: number;
  readonly refusals: Refusal[];
  /** `METHOD url body-length` of every request whose body was complete. */
  readonly seen: string[];
  close(): Promise<void>;
}

/** A fronted server that answers `METHOD url body`. */
export async function startEchoServer(options: Partial<FrontOptions> = {}): Promise<EchoServer> {
  const refusals: Refusal[] = [];
  const seen: string[] = [];
  const server = createFrontedServer(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('latin1');
        seen.push(`${request.method} ${request.url} ${body.length}`);
        const text = Buffer.from(`${request.method} ${request.url} ${body}`, 'latin1');
        response.writeHead(200, { 'content-length': text.length });
        response.end(text);
      });
    },
    {
      lingerMs: 100,
      renderRefusal: (refusal) =>
        `HTTP/1.1 400 Bad Request\r\nContent-Length: ${refusal.kind.length}\r\nConnection: close\r\n\r\n${refusal.kind}`,
      onRefused: (refusal) => refusals.push(refusal),
      ...options,
    },
  );
  server.on('clientError', refuseClient);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    refusals,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
