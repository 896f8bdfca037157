import { DigitQueue } from '../../runtime/media/digit-queue.ts';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { EndpointGone } from '../../runtime/media/media-error.ts';

/** An endpoint whose sounds last until the test ends them. */
export class ScriptedEndpoint {
  readonly digits = new DigitQueue();
  readonly played: string[] = [];
  readonly #gone = new AbortController();
  #finish: (() => void) | undefined;
  #started = Promise.withResolvers<void>();

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** As the room under test takes it. */
  get asEndpoint(): MediaEndpoint {
    return this as unknown as MediaEndpoint;
  }

  play(source: string, signal: AbortSignal): Promise<number> {
    this.played.push(source);
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#gone.signal.addEventListener('abort', () => reject(this.#gone.signal.reason as Error), { once: true });
      this.#finish = () => {
        this.#finish = undefined;
        resolve(20);
      };
      this.#started.resolve();
      this.#started = Promise.withResolvers<void>();
    });
  }

  /** Settles when a sound is heard: at once while there is one. */
  get sound(): Promise<void> {
    return this.#finish === undefined ? this.#started.promise : Promise.resolve();
  }

  finishSound(): void {
    this.#finish?.();
  }

  hangUp(): void {
    this.#gone.abort(new EndpointGone());
  }
}
