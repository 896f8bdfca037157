import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A frame of the server: headers (undecoded) and body. */
export interface EslFrame {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly head: string;
  readonly body: string;
}

/** A bare event socket client: writes text, and keeps received frames in order. */
export class EslClient {
  readonly frames: EslFrame[] = [];
  readonly #socket: Socket;
  readonly #waiting: { wants: (frame: EslFrame) => boolean; resolve: (frame: EslFrame) => void }[] = [];
  #pending = Buffer.alloc(0);
  closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (piece) => this.#receive(piece));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
  }

  static async connect(address: string): Promise<EslClient> {
    const [host, port] = address.split(':') as [string, string];
    const socket = connect(Number(port), host);
    await once(socket, 'connect');
    return new EslClient(socket);
  }

  send(text: string | Uint8Array): void {
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(text);
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Takes the first matching frame not taken yet, waiting if necessary; undefined after the given time. */
  async take(wants: (frame: EslFrame) => boolean, milliseconds: number): Promise<EslFrame | undefined> {
    const index = this.frames.findIndex(wants);
    if (index >= 0) return this.frames.splice(index, 1)[0];
    const { promise, resolve } = Promise.withResolvers<EslFrame | undefined>();
    const entry = { wants, resolve };
    this.#waiting.push(entry);
    const timer = setTimeout(() => resolve(undefined), milliseconds);
    const frame = await promise;
    clearTimeout(timer);
    const at = this.#waiting.indexOf(entry);
    if (at >= 0) this.#waiting.splice(at, 1);
    return frame;
  }

  #receive(piece: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, piece]);
    for (;;) {
      const end = this.#pending.indexOf('\n\n');
      if (end < 0) return;
      const head = this.#pending.toString('utf8', 0, end);
      const headers = new Map(
        head.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
      );
      const length = Number(headers.get('Content-Length') ?? 0);
      if (this.#pending.length < end + 2 + length) return;
      const body = this.#pending.toString('utf8', end + 2, end + 2 + length);
      this.#pending = this.#pending.subarray(end + 2 + length);
      this.#deliver({ type: headers.get('Content-Type') ?? '', headers, head, body });
    }
  }

  #deliver(frame: EslFrame): void {
    const waiting = this.#waiting.find(({ wants }) => wants(frame));
    if (waiting === undefined) this.frames.push(frame);
    else {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(frame);
    }
  }
}
