/** Schedules the requests of one connection. */
import { RestError } from '../errors.ts';

/** Limit of concurrent requests of one connection. */
export const MAX_RUNNING = 64;
/** Limit of waiting requests, in bytes. */
const MAX_WAITING_BYTES = 1_048_576;
/** Limit of unsent answers of one connection, in bytes. */
export const MAX_ANSWER_BYTES = 16_777_216;

/** Schedules pipelined requests of a client, and limits the size of their answers. */
export class Turns {
  #running = 0;
  #waitingBytes = 0;
  #answerBytes = 0;
  #closed = false;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /** Reserved bytes of answers. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  /**
   * Waits for a turn; the returned function ends it.
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

  /** @returns false when an answer exceeds the limit by so many more bytes */
  take(bytes: number): boolean {
    if (this.#answerBytes + bytes > MAX_ANSWER_BYTES) return false;
    this.#answerBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#answerBytes -= bytes;
  }

  /** Drops all waiting requests of a disconnected client. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  /** Passes the turn to the oldest waiting request. */
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
