import { RestError } from '../errors.ts';

/** Requests of one connection that run at once. */
export const MAX_RUNNING = 64;
/** Bytes of requests that wait for their turn. */
const MAX_WAITING_BYTES = 1_048_576;
/** Bytes of answers of one connection that are collected, or not sent yet. */
export const MAX_ANSWER_BYTES = 16_777_216;

/** Whose turn it is among the requests that a client sent without waiting, and what room there is for their answers. */
export class Turns {
  #running = 0;
  #waitingBytes = 0;
  #answerBytes = 0;
  #closed = false;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /** Bytes of answers, as far as they were taken and not given back. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  /**
   * Waits for a turn; what is returned ends it.
   * @param bytes of the request
   * @throws RestError 503/1503 when more wait than may
   */
  async next(bytes: number): Promise<() => void> {
    if (this.#running >= MAX_RUNNING) {
      if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
        throw new RestError('UNAVAILABLE', { reason: `more than ${MAX_WAITING_BYTES} bytes of requests wait` });
      }
      this.#waitingBytes += bytes;
      await new Promise<void>((begin) => {
        this.#waiting.push({ bytes, begin });
      });
    } else this.#running++;
    return () => this.#end();
  }

  /** @returns false when there is no room for that much more of an answer */
  take(bytes: number): boolean {
    if (this.#answerBytes + bytes > MAX_ANSWER_BYTES) return false;
    this.#answerBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#answerBytes -= bytes;
  }

  /** The client is gone: what waits never begins. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  /** The turn goes to the one that waits longest. */
  #end(): void {
    const next = this.#closed ? undefined : this.#waiting.shift();
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waitingBytes -= next.bytes;
    next.begin();
  }
}
