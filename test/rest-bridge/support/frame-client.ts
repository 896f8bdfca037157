import { expect } from 'chai';
import type { WebSocket } from 'ws';

export type Frame = [method: string, parameters: Record<string, unknown>];

/** A WebSocket client that hands out frames in order. */
export class FrameClient {
  readonly socket: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#frames.push(frame);
      else waiting(frame);
    });
  }

  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame);
  }

  async ask(method: string, parameters: object): Promise<Record<string, unknown>> {
    this.socket.send(JSON.stringify([method, parameters]));
    const [name, answer] = await this.next();
    expect(name).to.equal(`${method}_result`);
    return answer;
  }
}
