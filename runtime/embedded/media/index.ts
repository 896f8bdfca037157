import { Worker } from 'node:worker_threads';
import { Nursery, type ProgramInput, programRunner } from '../../processes/index.ts';
import { type EmbeddedServer, ListenError } from '../server.ts';
import type { MediaServerOptions, MediaServerStats } from './options.ts';
import type { FromThread, ToThread } from './thread-messages.ts';
import { OwnerPrograms } from './thread-programs.ts';

export { MediaServerOptionError, type MediaServerOptions, type MediaServerStats } from './options.ts';

/** A thread that does not end by itself after `close` is ended after this long. */
const CLOSE_TIMEOUT_MS = 3000;

/**
 * Starts a media server in a thread of its own: event socket and SIP as FreeSWITCH has them, for drachtio-fsmrf and
 * other event socket clients on machines without FreeSWITCH.
 *
 * @param options addresses, ports and directories; see {@link MediaServerOptions}
 * @param nursery starts programs for it, such as a speech synthesizer; left out, it has one of its own
 * @returns the running server; its `addresses` are `eventSocket` and `sip`
 * @throws ListenError when an address is in use or not this machine's
 * @throws Error named MediaServerOptionError when an option cannot be used
 */
export async function startMediaServer(
  options: MediaServerOptions,
  nursery?: Nursery,
): Promise<EmbeddedServer<MediaServerStats>> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: options });
  const handle = new MediaThread(worker, nursery);
  await handle.started;
  return handle;
}

/** The owner's side of the media thread. */
class MediaThread implements EmbeddedServer<MediaServerStats> {
  readonly started: Promise<void>;
  readonly exited: Promise<Error | undefined>;
  readonly #worker: Worker;
  readonly #programs: OwnerPrograms;
  readonly #questions = new Map<number, { resolve(stats: MediaServerStats): void; reject(error: Error): void }>();
  #addresses: Readonly<Record<string, string>> = {};
  #nextId = 1;
  #closing: Promise<void> | undefined;
  #gone = false;

  constructor(worker: Worker, given: Nursery | undefined) {
    this.#worker = worker;
    const nursery = given ?? new Nursery();
    this.#programs = new OwnerPrograms(programRunner(nursery));
    const started = Promise.withResolvers<void>();
    this.started = started.promise;
    const exited = Promise.withResolvers<Error | undefined>();
    this.exited = exited.promise;
    worker.on('message', (message: FromThread) => {
      if (message.type === 'listening') {
        this.#addresses = message.addresses;
        started.resolve();
      } else if (message.type === 'failed') started.reject(toError(message.error));
      else if (message.type === 'stats') {
        this.#questions.get(message.id)?.resolve(message.stats);
        this.#questions.delete(message.id);
      } else if (message.type === 'run') void this.#run(message.id, message.work);
      else if (message.type === 'stop') this.#programs.stop(message.id);
    });
    worker.on('error', (error) => {
      started.reject(error);
      exited.resolve(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on('exit', () => {
      this.#gone = true;
      this.#programs.stopAll();
      if (given === undefined) nursery.close();
      const error = new Error('the media thread has ended');
      for (const question of this.#questions.values()) question.reject(error);
      this.#questions.clear();
      started.reject(error);
      exited.resolve(undefined);
    });
  }

  get addresses(): Readonly<Record<string, string>> {
    return this.#addresses;
  }

  stats(): Promise<MediaServerStats> {
    if (this.#gone) return Promise.reject(new Error('the media thread has ended'));
    const { promise, resolve, reject } = Promise.withResolvers<MediaServerStats>();
    const id = this.#nextId;
    this.#nextId += 1;
    this.#questions.set(id, { resolve, reject });
    this.#tell({ type: 'stats', id });
    return promise;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#gone) return;
    const timeout = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS);
    this.#tell({ type: 'close' });
    await this.exited;
    clearTimeout(timeout);
  }

  async #run(id: number, work: ProgramInput): Promise<void> {
    const output = await this.#programs.run(id, work);
    if (!this.#gone) this.#tell({ type: 'ran', id, output });
  }

  #tell(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    this.#worker.postMessage(message);
  }
}

function toError(error: { name: string; message: string; code?: string; address?: string }): Error {
  if (error.code !== undefined) return new ListenError(error.code, error.address ?? '', 'media server');
  return Object.assign(new Error(error.message), { name: error.name });
}
