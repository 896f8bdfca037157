/** The program's side of calls to a media server in its process. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { receivingOnly } from '../../../sip-facts/index.ts';
import { DirectDialog } from './dialog.ts';
import type { Control, FromServer, ToServer } from './messages.ts';
import { Outbox } from './outbox.ts';
import { DirectSocket, type SocketMessage } from './socket.ts';

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
 * Calls a media server in the same process without SIP and TCP between them: half of the SIP messages of a call between two phones, and
 * two connections, would be there. It has the part of drachtio-srf's application object that drachtio-fsmrf uses.
 */
export class MediaAgent {
  /** The server's end: an option of `startMediaServer`. */
  readonly port: MessagePort;
  readonly #outbox: Outbox<ToServer>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #dialogs = new Map<number, DirectDialog>();
  readonly #controls = new Map<number, DirectSocket>();
  /** Takes the connection by which a new channel is controlled, in place of one from the server. */
  onControl: (socket: DirectSocket) => void = () => undefined;
  #calls = 0;
  #open = true;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port = port2;
    this.#outbox = new Outbox(port1);
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
    if (message.type === 'control') {
      this.#control(message);
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

  #control({ call, sent, begins }: Control): void {
    if (begins === true) {
      const socket = new DirectSocket((own) => {
        const rest = withoutConnect(own);
        if (rest !== undefined) this.#tell({ type: 'control', call, sent: rest });
      });
      this.#controls.set(call, socket);
      socket.on('close', () => this.#controls.delete(call));
      this.onControl(socket);
    }
    // Undefined when the client has closed it meanwhile.
    this.#controls.get(call)?.take(sent);
  }

  /** The server has ended, and everything that it had. */
  #closed(): void {
    this.#open = false;
    for (const waiting of this.#waiting.values()) waiting.reject(gone());
    for (const [call, dialog] of this.#dialogs) dialog.take({ type: 'bye', call });
    for (const socket of this.#controls.values()) socket.take({ end: true });
    this.#waiting.clear();
    this.#dialogs.clear();
  }

  #tell(message: ToServer): void {
    this.#outbox.add(message);
  }
}

/** What a client begins with. */
const CONNECT = 'connect\n\n';

/** The server answers `connect` before it comes. */
function withoutConnect(sent: SocketMessage): SocketMessage | undefined {
  if (!('text' in sent) || !sent.text.startsWith(CONNECT)) return sent;
  const text = sent.text.slice(CONNECT.length);
  return text === '' ? undefined : { text };
}

function gone(): MediaCallError {
  return new MediaCallError(503, 'The Media Server Has Ended');
}
