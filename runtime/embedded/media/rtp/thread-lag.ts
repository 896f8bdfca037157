/**
 * How long a packet can have waited for this thread at most: since the thread last looked at its sockets and found
 * something. What a packet was late before it came is not this server's doing.
 */
export class ThreadLag {
  #lookedAt = performance.now();
  #looking = false;
  readonly #looked = (): void => {
    this.#looking = false;
    this.#lookedAt = performance.now();
  };

  /** Milliseconds that a packet received at `now` can have waited. */
  at(now: number): number {
    if (!this.#looking) {
      this.#looking = true;
      // Immediates run when every socket that had something has been read.
      setImmediate(this.#looked);
    }
    return now - this.#lookedAt;
  }
}
