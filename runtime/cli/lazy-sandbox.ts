import { type Sandbox, openSandbox } from '../sandbox/index.ts';

/** A sandbox that is opened when the first scenario with a script needs it, and closed when the command is done. */
export class LazySandbox implements AsyncDisposable {
  #sandbox: Promise<Sandbox> | undefined;

  readonly open = (): Promise<Sandbox> => {
    this.#sandbox ??= openSandbox({ workers: 1 });
    return this.#sandbox;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#sandbox)?.close();
  }
}
