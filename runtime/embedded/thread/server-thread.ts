/** The handle of a server's worker thread. */
import { type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads';
import { ListenError } from '../listen-error.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { OwnerPrograms } from './programs.ts';
import type { ProgramInput, RunProgram } from './run-program.ts';

/** Time after `close` until the thread is terminated, ms. */
const CLOSE_TIMEOUT = 3000;

/** A running embedded server: the handle of its worker thread. */
export interface EmbeddedServer<Stats extends object, Change extends object = never> {
  /** Bound addresses (`ip:port`), by role, e.g. `{ app, sip }` or `{ eventSocket, sip }`. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Numbers of live dialogs, transactions, sockets, timers, channels ... For `/healthz` and leak tests. */
  stats(): Promise<Stats>;
  /** Changes the running server; ignored when it has ended. */
  reconfigure(change: Change): void;
  /** Ends calls without BYE, closes every socket, and ends the thread. Can be called again. */
  close(): Promise<void>;
  /** Resolves when the thread has ended, with the error of a failed thread. */
  readonly exited: Promise<Error | undefined>;
}

/** Services of the node for an embedded server. */
export interface ServerHost {
  /** Runs programs: a speech synthesizer, chrt(1). Left out, the server works as if they were not installed. */
  readonly run?: RunProgram;
  /**
   * Module that the thread loads. Its `giveBackAtRest(works: () => boolean)` is called; `works` returns whether calls
   * are in progress. Left out, V8 alone decides when memory goes back to the system.
   */
  readonly atRest?: URL;
  /** Takes events for the log, such as refused connections. */
  readonly notice?: (message: string, details: object) => void;
}

/** Describes a server that runs in a worker thread. */
export interface ThreadKind {
  /** Name in errors, such as `embedded SIP server`. */
  readonly title: string;
  /** Name of the thread in debuggers. */
  readonly name: string;
  /** Entry module of the thread: see `serve.ts`. */
  readonly entry: URL;
  readonly resourceLimits?: ResourceLimits;
}

/**
 * Starts a server in a thread of its own.
 * @param options options of the server; must be cloneable
 * @param ports ports among the options, which move to the thread
 * @throws ListenError when an address is taken or not allowed
 * @throws RangeError when an option is invalid
 */
export async function startServerThread<Stats extends object, Change extends object = never>(
  kind: ThreadKind,
  options: object,
  host: ServerHost,
  ports: MessagePort[] = [],
): Promise<EmbeddedServer<Stats, Change>> {
  const thread = new ServerThread<Stats, Change>(kind, options, host, ports);
  await thread.listening;
  return thread;
}

class ServerThread<Stats extends object, Change extends object> implements EmbeddedServer<Stats, Change> {
  addresses: Readonly<Record<string, string>> = {};
  readonly listening: Promise<void>;
  readonly exited: Promise<Error | undefined>;
  readonly #title: string;
  readonly #worker: Worker;
  readonly #programs: OwnerPrograms;
  readonly #statsRequests = new Map<number, PromiseWithResolvers<Stats>>();
  #nextRequest = 1;
  #closing: Promise<void> | undefined;
  #over = false;

  constructor(
    { title, name, entry, resourceLimits }: ThreadKind,
    options: object,
    { run, atRest, notice }: ServerHost,
    ports: MessagePort[],
  ) {
    this.#title = title;
    this.#programs = new OwnerPrograms(run ?? (async () => undefined));
    const workerData: ThreadData<object> = { options, ...(atRest === undefined ? {} : { atRest: atRest.href }) };
    const limits = resourceLimits === undefined ? {} : { resourceLimits };
    this.#worker = new Worker(entry, { workerData, transferList: ports, name, ...limits });
    const listening = Promise.withResolvers<void>();
    this.listening = listening.promise;
    this.#worker.on('message', (message: FromThread<Stats>) => {
      if (message.type === 'listening') {
        this.addresses = message.addresses;
        listening.resolve();
      } else if (message.type === 'failed') listening.reject(errorOf(message));
      else if (message.type === 'stats') {
        this.#statsRequests.get(message.id)?.resolve(message.stats);
        this.#statsRequests.delete(message.id);
      } else if (message.type === 'notice') notice?.(message.message, message.details);
      else if (message.type === 'run') void this.#run(message.id, message.work);
      else this.#programs.stop(message.id);
    });
    const exited = Promise.withResolvers<Error | undefined>();
    this.exited = exited.promise;
    let failure: Error | undefined;
    this.#worker.on('error', (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.on('exit', (code) => {
      this.#over = true;
      this.#programs.stopAll();
      if (failure === undefined && code !== 0) failure = new Error(`${title}: thread ended with code ${code}`);
      const error = failure ?? this.#overError();
      for (const request of this.#statsRequests.values()) request.reject(error);
      this.#statsRequests.clear();
      listening.reject(error);
      exited.resolve(failure);
    });
  }

  stats(): Promise<Stats> {
    if (this.#over) return Promise.reject(this.#overError());
    const request = Promise.withResolvers<Stats>();
    const id = this.#nextRequest;
    this.#nextRequest += 1;
    this.#statsRequests.set(id, request);
    this.#tell({ type: 'stats', id });
    return request.promise;
  }

  reconfigure(change: Change): void {
    if (!this.#over) this.#tell({ type: 'reconfigure', change });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#over) return;
    const timeout = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT);
    this.#tell({ type: 'close' });
    await this.exited;
    clearTimeout(timeout);
  }

  async #run(id: number, work: ProgramInput): Promise<void> {
    const output = await this.#programs.run(id, work);
    if (!this.#over) this.#tell({ type: 'ran', id, output });
  }

  #overError(): Error {
    return new Error(`${this.#title}: thread has ended`);
  }

  #tell(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    this.#worker.postMessage(message);
  }
}

function errorOf({ name, message, listen }: Extract<FromThread<object>, { type: 'failed' }>): Error {
  if (listen !== undefined) return new ListenError(listen.code, listen.address, listen.what);
  return Object.assign(new RangeError(message), { name });
}
