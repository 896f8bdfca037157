import type { FromThread } from './messages.ts';
import type { ProgramInput, RunProgram } from './run-program.ts';

/** The server thread's side of the programs that the main thread runs for it. */
export class ThreadPrograms {
  readonly #tell: (message: FromThread<never>) => void;
  readonly #running = new Map<number, (output: Uint8Array | undefined) => void>();
  #lastId = 0;

  constructor(tell: (message: FromThread<never>) => void) {
    this.#tell = tell;
  }

  readonly run: RunProgram = async (work, signal) => {
    if (signal.aborted) return undefined;
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    this.#running.set(id, resolve);
    this.#tell({ type: 'run', id, work });
    const stop = (): void => {
      this.#tell({ type: 'stop', id });
      this.ran(id, undefined);
    };
    signal.addEventListener('abort', stop, { once: true });
    const output = await promise;
    signal.removeEventListener('abort', stop);
    return output;
  };

  /** Takes the result of a program; ignored when the program was stopped before. */
  ran(id: number, output: Uint8Array | undefined): void {
    this.#running.get(id)?.(output);
    this.#running.delete(id);
  }
}

/** The main thread's side: runs the programs for a server thread. */
export class OwnerPrograms {
  readonly #run: RunProgram;
  readonly #running = new Map<number, AbortController>();

  constructor(run: RunProgram) {
    this.#run = run;
  }

  async run(id: number, work: ProgramInput): Promise<Uint8Array | undefined> {
    const control = new AbortController();
    this.#running.set(id, control);
    try {
      return await this.#run(work, control.signal);
    } finally {
      this.#running.delete(id);
    }
  }

  stop(id: number): void {
    this.#running.get(id)?.abort();
  }

  stopAll(): void {
    for (const control of this.#running.values()) control.abort();
  }
}
