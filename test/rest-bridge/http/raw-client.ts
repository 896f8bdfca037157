import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP client that writes bytes as told and reads HTTP answers with Content-Length. */
export class RawClient {
  readonly socket: Socket;
  #text = '';
  #waiting: (() => void)[] = [];
  ended = false;

  constructor(socket: Socket) {
    this.socket = socket;
    const wake = () => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      wake();
    });
    socket.on('end', () => {
      this.ended = true;
      wake();
    });
    socket.on('error', wake);
    socket.on('close', () => {
      this.ended = true;
      wake();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  write(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** The next answer; undefined when the server closed the connection before one. 1xx answers are skipped. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const taken = this.#take();
      if (taken && taken.status >= 200) return taken;
      if (!taken) {
        if (this.ended) return undefined;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    }
  }

  /** Everything that came and is not part of an answer taken before. */
  get rest(): string {
    return this.#text;
  }

  /** Waits until what came and is not part of an answer taken before fulfils the condition. */
  async until(condition: (text: string) => boolean): Promise<void> {
    while (!condition(this.#text)) {
      if (this.ended) throw new Error(`the connection ended behind ${JSON.stringify(this.#text)}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits until the server closed the connection. */
  async end(): Promise<void> {
    while (!this.ended) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.socket.destroy();
  }

  #take(): RawAnswer | undefined {
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = this.#text.slice(0, headEnd).split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const length = Number(headers['content-length'] ?? '0');
    if (this.#text.length < headEnd + 4 + length) return undefined;
    const body = this.#text.slice(headEnd + 4, headEnd + 4 + length);
    this.#text = this.#text.slice(headEnd + 4 + length);
    return { status: Number(statusLine.split(' ')[1]), headers, body };
  }
}
