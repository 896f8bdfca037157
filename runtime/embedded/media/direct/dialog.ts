/** A call to a media server in the same process. */
import { EventEmitter } from 'node:events';
import type { FromServer, ToServer } from './messages.ts';

/** The answer to a request within the call. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Events {
  /** The server has ended the call. */
  destroy: [];
  info: [request: { readonly body: string; get(header: string): string | undefined }, response: { send(): void }];
}

/** A dialog with the part of drachtio-srf's that drachtio-fsmrf and the room `media` use. */
export class DirectDialog extends EventEmitter<Events> {
  readonly local: { sdp: string };
  readonly remote: { sdp: string };
  readonly #call: number;
  readonly #tell: (message: ToServer) => void;
  readonly #requests = new Map<number, (answer: Answer) => void>();
  #ended = false;
  #lastId = 0;

  /** @param tell sends to the server */
  constructor(
    call: number,
    sdp: { readonly local: string; readonly remote: string },
    tell: (message: ToServer) => void,
  ) {
    super();
    this.#call = call;
    this.#tell = tell;
    this.local = { sdp: sdp.local };
    this.remote = { sdp: sdp.remote };
  }

  /** Sends a re-INVITE. Resolves with its answer: 481 when the call is over. */
  request({ body }: { readonly body: string }): Promise<Answer> {
    if (this.#ended) return Promise.resolve(OVER);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const id = (this.#lastId += 1);
    this.#requests.set(id, resolve);
    this.#tell({ type: 'reinvite', call: this.#call, id, sdp: body });
    return promise;
  }

  /** Ends the call. The server takes what comes afterwards when the call is over. */
  async destroy(): Promise<void> {
    if (this.#ended) return;
    this.#end();
    this.#tell({ type: 'bye', call: this.#call });
  }

  /** Takes a message of the server. */
  take(message: Exclude<FromServer, { type: 'answer' | 'control' }>): void {
    if (message.type === 'reanswer') {
      this.#requests.get(message.id)?.({ status: message.status, body: message.sdp });
      this.#requests.delete(message.id);
    } else if (message.type === 'info') {
      const { body, contentType } = message;
      const get = (header: string) => (header.toLowerCase() === 'content-type' ? contentType : undefined);
      this.emit('info', { body, get }, { send: () => undefined });
    } else if (!this.#ended) {
      this.#end();
      this.emit('destroy');
    }
  }

  #end(): void {
    this.#ended = true;
    for (const answered of this.#requests.values()) answered(OVER);
    this.#requests.clear();
  }
}

const OVER: Answer = { status: 481, body: '' };
