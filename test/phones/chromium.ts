/** A headless Chromium, controlled by the DevTools protocol. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { disposableFolder } from '../support/temporary-folder.ts';

interface Reply {
  readonly id?: number;
  readonly result?: {
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
  };
  readonly error?: { readonly message: string };
}

export class Chromium {
  readonly #process: ChildProcess;
  readonly #socket: WebSocket;
  readonly #removeFolder: () => Promise<void>;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 1;

  private constructor(process: ChildProcess, socket: WebSocket, removeFolder: () => Promise<void>) {
    this.#process = process;
    this.#socket = socket;
    this.#removeFolder = removeFolder;
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Reply));
  }

  /** @param program path of Chromium */
  static async start(program: string): Promise<Chromium> {
    const folder = await disposableFolder();
    const child = spawn(
      program,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--autoplay-policy=no-user-gesture-required',
        '--allow-loopback-in-peer-connection',
        '--remote-debugging-port=0',
        `--user-data-dir=${folder.path}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const endpoint = await debuggerOf(child);
    const pages = (await (await fetch(`http://${endpoint}/json/list`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const page = pages.find(({ type }) => type === 'page');
    const socket = new WebSocket(page?.webSocketDebuggerUrl ?? '');
    await once(socket, 'open');
    return new Chromium(child, socket, () => folder.remove());
  }

  /** Runs a script in the page; a promise is awaited. @throws Error of the page */
  evaluate<T>(expression: string): Promise<T> {
    const id = this.#next++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    this.#socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params }));
    return waiting.promise as Promise<T>;
  }

  async close(): Promise<void> {
    this.#socket.terminate();
    if (this.#process.exitCode === null) {
      const exited = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await exited;
    }
    await this.#removeFolder();
  }

  #take({ id, result, error }: Reply): void {
    const waiting = this.#waiting.get(id ?? 0);
    if (waiting === undefined) return;
    this.#waiting.delete(id ?? 0);
    const failure = error?.message ?? result?.exceptionDetails?.exception?.description;
    if (failure === undefined) waiting.resolve(result?.result?.value);
    else waiting.reject(new Error(`page: ${failure}`));
  }
}

/** `host:port` of the debugger, which Chromium prints. */
async function debuggerOf(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of child.stderr ?? []) {
    printed += String(chunk);
    const endpoint = /DevTools listening on ws:\/\/([^/]+)\//.exec(printed)?.[1];
    if (endpoint !== undefined) {
      child.stderr?.resume();
      return endpoint;
    }
  }
  throw new Error(`chromium did not start: ${printed.slice(-500)}`);
}
