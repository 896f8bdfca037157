/** The program's side of calls to a media server in its process. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { receivingOnly } from '../../../sip-facts/index.ts';
import { DirectDialog } from './dialog.ts';
import type { FromServer, ToServer } from './messages.ts';

/** The media server refused a call, or has ended. */
export class MediaCallError extends Error {
  override readonly name = 'MediaCallError';
  /** SIP status code. */
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string) {
    super(`${status} ${reason}`);
    this.status = status;
    this.reason = reason;
  }
}

/** Options of {@link MediaAgent.createUAC}: those of drachtio-srf that drachtio-fsmrf uses. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The offer; without it the server makes one. */
  readonly localSdp?: string | undefined;
  /** Makes the answer to the server's offer; undefined: the offer itself. */
  readonly answer?: (offer: string) => string;
}

/** A call that has no answer yet. */
interface Waiting {
  readonly options: CallOptions;
  resolve(dialog: DirectDialog): void;
  reject(error: MediaCallError): void;
}

/**
 * Calls a media server in the same process without SIP between them: half of the SIP messages of a call between two phones would pass
 * there. It has the part of drachtio-srf's application object that drachtio-fsmrf uses.
 */
export class MediaAgent {
  /** The server's end: an option of `startMediaServer`. */
  readonly port: MessagePort;
  readonly #own: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #dialogs = new Map<number, DirectDialog>();
  #calls = 0;
  #open = true;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port = port2;
    this.#own = port1;
    port1.on('message', (message: FromServer) => this.#take(message));
    port1.on('close', () => this.#closed());
    // It keeps no process alive.
    port1.unref();
  }

  /** False when the server has ended. */
  get connected(): boolean {
    return this.#open;
  }

  /**
   * Calls the server.
   * @param _uri ignored: there is one server
   * @throws MediaCallError with the status of the refusal
   */
  createUAC(_uri: string, options: CallOptions = {}): Promise<DirectDialog> {
    const { promise, resolve, reject } = Promise.withResolvers<DirectDialog>();
    if (!this.#open) reject(gone());
    else {
      const call = (this.#calls += 1);
      this.#waiting.set(call, { options, resolve, reject });
      this.#tell({ type: 'invite', call, headers: options.headers ?? {}, sdp: options.localSdp });
    }
    return promise;
  }

  #take(message: FromServer): void {
    if (message.type === 'answer') {
      this.#answered(message);
      return;
    }
    const dialog = this.#dialogs.get(message.call);
    if (message.type === 'bye') this.#dialogs.delete(message.call);
    dialog?.take(message);
  }

  #answered({ call, status, reason, sdp }: Extract<FromServer, { type: 'answer' }>): void {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (waiting === undefined) return;
    if (status >= 300) {
      waiting.reject(new MediaCallError(status, reason));
      return;
    }
    const { localSdp, answer = (offer: string) => offer } = waiting.options;
    const local = localSdp ?? receivingOnly(answer(sdp));
    const dialog = new DirectDialog(call, { local, remote: sdp }, (told) => {
      if (told.type === 'bye') this.#dialogs.delete(call);
      this.#tell(told);
    });
    this.#dialogs.set(call, dialog);
    if (localSdp === undefined) this.#tell({ type: 'ack', call, sdp: local });
    waiting.resolve(dialog);
  }

  /** The server has ended, and everything that it had. */
  #closed(): void {
    this.#open = false;
    for (const waiting of this.#waiting.values()) waiting.reject(gone());
    for (const [call, dialog] of this.#dialogs) dialog.take({ type: 'bye', call });
    this.#waiting.clear();
    this.#dialogs.clear();
  }

  #tell(message: ToServer): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    this.#own.postMessage(message);
  }
}

function gone(): MediaCallError {
  return new MediaCallError(503, 'The Media Server Has Ended');
}
