/** What has been opened, to be closed in reverse order. */
export class Shutdown {
  readonly #steps: { what: string; close: () => unknown }[] = [];
  readonly #failed: (err: unknown, what: string) => void;
  #running: Promise<void> | undefined;

  /** @param failed told of a step that could not be closed; the others are closed all the same */
  constructor(failed: (err: unknown, what: string) => void) {
    this.#failed = failed;
  }

  /** True once it has begun: what ends now, ends because it should. */
  get begun(): boolean {
    return this.#running !== undefined;
  }

  add(what: string, close: () => unknown): void {
    this.#steps.push({ what, close });
  }

  /** Closes everything, newest first. Idempotent. */
  run(): Promise<void> {
    this.#running ??= this.#close();
    return this.#running;
  }

  async #close(): Promise<void> {
    for (const { what, close } of this.#steps.toReversed()) {
      try {
        await close();
      } catch (err) {
        this.#failed(err, what);
      }
    }
  }
}
