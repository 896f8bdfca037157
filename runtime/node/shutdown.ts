import type { Logger } from 'pino';

/** Closes opened parts, newest first. */
export class Shutdown {
  readonly #steps: { what: string; close: () => unknown }[] = [];
  readonly #failed: (err: unknown, what: string) => void;
  #running: Promise<void> | undefined;

  /** @param failed called for a step that failed to close; the others are still closed */
  constructor(failed: (err: unknown, what: string) => void) {
    this.#failed = failed;
  }

  /** True after its start: ends of parts are expected from now on. */
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

/** A part of the node with its `close`. */
export type Opened<Part> = Part & { close(): Promise<void> };

/**
 * Opens the pieces of a part.
 * @param open adds each piece to `shutdown` as soon as it is open; when it throws, the opened pieces are closed
 * @returns the part, whose `close` closes its pieces, newest first
 */
export async function opening<Part extends object>(
  log: Logger,
  open: (shutdown: Shutdown) => Promise<Part>,
): Promise<Opened<Part>> {
  const shutdown = new Shutdown((err, what) => log.error({ err }, `closing ${what} failed`));
  try {
    return { ...(await open(shutdown)), close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
