/**
 * Measures the longest time that a packet can have waited for this thread: the time since the thread last read its
 * sockets. This excludes delays in the network from the server's lateness.
 */
export class ThreadLag {
  #lookedAt = performance.now();
  #looking = false;
  readonly #looked = (): void => {
    this.#looking = false;
    this.#lookedAt = performance.now();
  };

  /** Longest possible wait of a packet received at `now`, ms. */
  at(now: number): number {
    if (!this.#looking) {
      this.#looking = true;
      // Immediates run after all ready sockets have been read.
      setImmediate(this.#looked);
    }
    return now - this.#lookedAt;
  }
}
