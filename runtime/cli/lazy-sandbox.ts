import { openSandbox, type Sandbox, type SandboxOptions } from '../sandbox/index.ts';

/** A person waits for the command, and no calls do: on a busy machine a lower priority would make it many times slower. */
const NICE = 0;

/** A sandbox that is opened for the first scenario with a script, and closed at the end of the command. */
export class LazySandbox implements AsyncDisposable {
  readonly #options: SandboxOptions;
  #sandbox: Promise<Sandbox> | undefined;

  /** @param debuggerPort port for debuggers */
  constructor(debuggerPort?: number) {
    this.#options = { workers: 1, nice: NICE, ...(debuggerPort === undefined ? {} : { debuggerPort }) };
  }

  readonly open = (): Promise<Sandbox> => (this.#sandbox ??= openSandbox(this.#options));

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await (await this.#sandbox)?.close();
    } catch {
      // The failed opening was already reported to the caller of `open`.
    }
  }
}
