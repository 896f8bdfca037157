import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/**
 * A speech server that speaks the protocol of vosk-server, as alphacep/vosk-server's `websocket/asr_server.py` does: it
 * "understands" loud sound as the next of its words, with partial results on the way.
 */
export class VoskServer {
  readonly configs: Record<string, unknown>[] = [];
  readonly headers: Record<string, string | string[] | undefined>[] = [];
  /** Octets of sound received. */
  bytes = 0;
  words: string[] = [];
  /** Drops the connection when sound comes. */
  broken = false;
  /** Says nothing after the end of the sound, as an engine that still thinks. */
  thinking = false;
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket, request) => {
      this.headers.push(request.headers);
      this.#serve(socket);
    });
  }

  static async start(): Promise<VoskServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new VoskServer(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#server.clients.size;
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: WebSocket): void {
    let loud = 0;
    let quiet = 0;
    const flush = (): string => {
      const word = loud >= 1600 ? (this.words.shift() ?? '') : '';
      loud = 0;
      return word;
    };
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) {
        const message = JSON.parse(data.toString('utf8')) as { config?: Record<string, unknown>; eof?: number };
        if (message.config !== undefined) this.configs.push(message.config);
        if (message.eof === 1 && !this.thinking) socket.send(JSON.stringify({ text: flush() }), () => socket.close());
        return;
      }
      if (this.broken) return socket.terminate();
      this.bytes += data.length;
      for (let at = 0; at + 1 < data.length; at += 2) {
        if (Math.abs(data.readInt16LE(at)) > 500) [loud, quiet] = [loud + 1, 0];
        else quiet += 1;
      }
      if (loud > 0 && quiet >= 4000) socket.send(JSON.stringify({ result: [], text: flush() }));
      else socket.send(JSON.stringify({ partial: loud >= 1600 ? (this.words[0] ?? '') : '' }));
    });
  }
}
