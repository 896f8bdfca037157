import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServerAddress } from '../../../runtime/config/config.ts';
import { Arrivals, Moment } from '../../phones/wait.ts';

/** A connection to the app port without drachtio-srf, for messages that the library never sends. */
export class AppPort {
  readonly #socket: Socket;
  readonly #frames = new Arrivals<string>('frame');
  readonly #closed = new Moment<true>('closed by the server');
  #buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#receive(data));
    socket.on('close', () => this.#closed.reach(true));
    socket.on('error', () => this.#closed.reach(true));
  }

  static async open(address: ServerAddress): Promise<AppPort> {
    const socket = connect({ host: address.host, port: address.port, noDelay: true });
    await once(socket, 'connect');
    return new AppPort(socket);
  }

  /** Opens and authenticates. */
  static async authenticated(address: ServerAddress): Promise<AppPort> {
    const port = await AppPort.open(address);
    const fields = await port.ask(`authenticate|${address.secret}|`);
    if (fields[0] !== 'OK') throw new Error(`not accepted: ${fields.join('|')}`);
    return port;
  }

  /** Writes bytes as they are. */
  write(bytes: string): void {
    this.#socket.write(bytes);
  }

  /** Sends a message and returns the fields of its answer after `response|<id>`. */
  async ask(message: string): Promise<string[]> {
    const id = randomUUID();
    this.write(frame(`${id}|${message}`));
    for (;;) {
      const fields = (await this.next()).split('|');
      if (fields[1] === 'response' && fields[2] === id) return fields.slice(3);
    }
  }

  /** The payload of the next frame. */
  async next(withinMs = 3000): Promise<string> {
    return this.#frames.next(withinMs);
  }

  /** @throws WaitError when the server keeps the connection open */
  async closed(withinMs = 3000): Promise<void> {
    await this.#closed.wait(withinMs);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data]);
    for (;;) {
      const hash = this.#buffer.indexOf('#');
      if (hash < 0) return;
      const length = Number(this.#buffer.toString('latin1', 0, hash));
      if (!Number.isInteger(length)) throw new Error(`not a frame: ${this.#buffer.toString('latin1', 0, hash)}`);
      if (this.#buffer.length < hash + 1 + length) return;
      this.#frames.push(this.#buffer.toString('utf8', hash + 1, hash + 1 + length));
      this.#buffer = this.#buffer.subarray(hash + 1 + length);
    }
  }
}

/** One frame of the app protocol: byte count, `#`, payload. */
export function frame(payload: string): string {
  return `${Buffer.byteLength(payload)}#${payload}`;
}
