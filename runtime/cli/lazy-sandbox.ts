import { openSandbox, type Sandbox } from '../sandbox/index.ts';

/** A sandbox that is opened for the first scenario with a script, and closed at the end of the command. */
export class LazySandbox implements AsyncDisposable {
  #sandbox: Promise<Sandbox> | undefined;

  readonly #debuggerPort: number | undefined;

  /** @param debuggerPort port for debuggers */
  constructor(debuggerPort?: number) {
    this.#debuggerPort = debuggerPort;
  }

  readonly open = (): Promise<Sandbox> => {
    const { debuggerPort } = { debuggerPort: this.#debuggerPort };
    this.#sandbox ??= openSandbox({ workers: 1, ...(debuggerPort === undefined ? {} : { debuggerPort }) });
    return this.#sandbox;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await (await this.#sandbox)?.close();
    } catch {
      // The failed opening was already reported to the caller of `open`.
    }
  }
}
