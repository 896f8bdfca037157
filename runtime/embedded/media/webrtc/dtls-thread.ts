/** The handle of the thread for DTLS handshakes. */
import { Worker } from 'node:worker_threads';
import type { DtlsKeys, FromDtls, ToDtls } from './messages.ts';

/** Most memory of the thread, MB: the library takes some 40. */
const MOST_MEMORY_MB = 160;

/** Takes what a handshake produces. */
export interface HandshakeListener {
  /** A datagram for the far end. */
  send(data: Uint8Array): void;
  connected(keys: DtlsKeys): void;
  /** @param reason the end of a sentence */
  failed(reason: string): void;
  /** After `connected`: the far end has closed its session, by an authentic alert. */
  closed(): void;
}

/** One handshake. */
export interface Handshake {
  receive(datagram: Uint8Array): void;
  close(): void;
}

/**
 * DTLS handshakes in a thread of their own. It starts with the first call that needs one: the library takes a tenth of a second to
 * load and 40 MB, and a handshake some milliseconds, in which no packet of another call may wait.
 */
export class DtlsThread {
  #worker: Worker | undefined;
  #fingerprint: Promise<string> | undefined;
  readonly #listeners = new Map<number, HandshakeListener>();
  #next = 1;

  /** SHA-256 of the server's certificate, as in `a=fingerprint`. Rejects when the thread cannot start. */
  fingerprint(): Promise<string> {
    this.#fingerprint ??= this.#start();
    return this.#fingerprint;
  }

  /** Opens a handshake; the thread must have told its fingerprint. */
  open(listener: HandshakeListener): Handshake {
    const id = this.#next++;
    this.#listeners.set(id, listener);
    this.#tell({ type: 'open', id });
    return {
      receive: (data) => this.#tell({ type: 'data', id, data }),
      close: () => {
        this.#listeners.delete(id);
        this.#tell({ type: 'close', id });
      },
    };
  }

  /** Open handshakes. */
  get size(): number {
    return this.#listeners.size;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#ended('the media server stops');
    await worker?.terminate();
  }

  #start(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const worker = new Worker(new URL('./dtls-worker.ts', import.meta.url), {
      name: 'media dtls',
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    });
    this.#worker = worker;
    worker.on('message', (message: FromDtls) => {
      if (message.type === 'ready') resolve(message.fingerprint);
      else this.#take(message);
    });
    const ended = (error: Error): void => {
      reject(error);
      if (this.#worker === worker) this.#ended(`the thread for DTLS ended: ${error.message}`);
    };
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('it stopped')));
    return promise;
  }

  #take(message: Exclude<FromDtls, { type: 'ready' }>): void {
    const listener = this.#listeners.get(message.id);
    if (message.type === 'data') listener?.send(message.data);
    else if (message.type === 'keys') listener?.connected(message.keys);
    else if (message.type === 'closed') listener?.closed();
    else listener?.failed(message.reason);
  }

  #ended(reason: string): void {
    this.#worker = undefined;
    this.#fingerprint = undefined;
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener.failed(reason);
  }

  #tell(message: ToDtls): void {
    this.#worker?.postMessage(message);
  }
}
