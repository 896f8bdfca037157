import { Worker } from 'node:worker_threads';
import { type EmbeddedServer, ListenError } from '../server.ts';
import type { SipServerOptions, SipServerStats } from './options.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

export type { SipServerOptions, SipServerStats } from './options.ts';

/** A thread that does not end by itself after `close` is ended after this long, ms. */
const CLOSE_TIMEOUT = 3000;

/**
 * Starts the embedded SIP server in a worker thread: SIP over UDP and TCP on one side, drachtio-server's app protocol on
 * the other, so that drachtio-srf connects to it unmodified.
 *
 * ```ts
 * const server = await startSipServer({ app: '127.0.0.1:9022', secret: 'cymru', sip: ['127.0.0.1:5060'] });
 * srf.connect({ host: '127.0.0.1', port: 9022, secret: 'cymru' });
 * ```
 *
 * @returns a handle whose `addresses` are `app` and `sip` (comma-separated if several).
 * @throws ListenError when an address is taken or not allowed.
 * @throws RangeError when an address is no `ip:port`.
 */
export async function startSipServer(options: SipServerOptions): Promise<EmbeddedServer<SipServerStats>> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: options,
    name: 'embedded-sip',
    // Datagrams are garbage within milliseconds: a small young generation frees them before the process has grown.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
  const handle = new SipServerHandle(worker);
  await handle.listening;
  return handle;
}

class SipServerHandle implements EmbeddedServer<SipServerStats> {
  addresses: Readonly<Record<string, string>> = {};
  readonly listening: Promise<void>;
  readonly exited: Promise<Error | undefined>;
  readonly #worker: Worker;
  readonly #statsRequests = new Map<
    number,
    { resolve: (stats: SipServerStats) => void; reject: (error: Error) => void }
  >();
  #nextRequest = 1;
  #closing: Promise<void> | undefined;
  #over = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    let failure: Error | undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.listening = promise;
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'listening') {
        this.addresses = message.addresses;
        resolve();
      } else if (message.type === 'failed') reject(errorOf(message));
      else if (message.type === 'stats') {
        this.#statsRequests.get(message.id)?.resolve(message.stats);
        this.#statsRequests.delete(message.id);
      }
    });
    worker.on('error', (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    this.exited = new Promise((exit) => {
      worker.on('exit', (code) => {
        this.#over = true;
        if (failure === undefined && code !== 0)
          failure = new Error(`embedded SIP server: thread ended with code ${code}`);
        const error = failure ?? new Error('embedded SIP server: thread has ended');
        for (const request of this.#statsRequests.values()) request.reject(error);
        this.#statsRequests.clear();
        reject(error);
        exit(failure);
      });
    });
  }

  stats(): Promise<SipServerStats> {
    if (this.#over) return Promise.reject(new Error('embedded SIP server: thread has ended'));
    const id = this.#nextRequest;
    this.#nextRequest += 1;
    return new Promise((resolve, reject) => {
      this.#statsRequests.set(id, { resolve, reject });
      this.#worker.postMessage({ type: 'stats', id } satisfies ToWorker, []);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#over) return;
    const timeout = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT);
    this.#worker.postMessage({ type: 'close' } satisfies ToWorker, []);
    await this.exited;
    clearTimeout(timeout);
  }
}

function errorOf(failed: Extract<FromWorker, { type: 'failed' }>): Error {
  return failed.code === ''
    ? new RangeError(failed.message)
    : new ListenError(failed.code, failed.address, failed.what);
}
