import { openSandbox, type Sandbox } from '../sandbox/index.ts';

/** A sandbox that is opened when the first scenario with a script needs it, and closed when the command is done. */
export class LazySandbox implements AsyncDisposable {
  #sandbox: Promise<Sandbox> | undefined;

  readonly #debuggerPort: number | undefined;

  /** @param debuggerPort where a debugger is let in */
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
      // It could not be opened, which whoever wanted it has heard.
    }
  }
}
