import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Transcription {
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly wav: Buffer;
}

/** A server of OpenAI's transcription interface: answers each request with the next of its texts. */
export class OpenAiServer {
  readonly requests: Transcription[] = [];
  texts: string[] = [];
  /** Status of the answers. */
  status = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OpenAiServer> {
    const server = createServer();
    const subject = new OpenAiServer(server);
    server.on('request', (request: IncomingMessage, response) => {
      void subject.#answer(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return subject;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method !== 'POST' || request.url !== '/v1/audio/transcriptions') {
      return { status: 404, body: { error: { message: `unknown ${request.method} ${request.url}` } } };
    }
    const form = await new Response(Buffer.concat(parts), {
      headers: { 'content-type': request.headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('file');
    if (!(file instanceof File)) return { status: 400, body: { error: { message: 'no file' } } };
    const fields = Object.fromEntries(
      [...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    const wav = Buffer.from(await file.arrayBuffer());
    this.requests.push({ authorization: request.headers.authorization, fields, wav });
    if (this.status !== 200) return { status: this.status, body: { error: { message: 'overloaded' } } };
    return { status: 200, body: { text: this.texts.shift() ?? '' } };
  }
}
