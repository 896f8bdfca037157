/** Characters that cost as much as a command. */
const CHARACTERS = 4096;

/**
 * Keeps a script to a rate, so that one in a tight loop of commands does not take the host's time: a token bucket that holds
 * one second's worth. A command costs a token, and what crosses the border one for every 4096 characters; answers wait for
 * what is owed.
 */
export class Pace {
  readonly #intervalMs: number;
  /** When the bucket would be full again. */
  #fullAt = 0;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** The script gave a command. @param now milliseconds */
  command(now: number): void {
    this.crossed(now, CHARACTERS);
  }

  /** So many characters went to the script, or came from it. @param now milliseconds */
  crossed(now: number, characters: number): void {
    this.#fullAt = Math.max(this.#fullAt, now) + (this.#intervalMs * characters) / CHARACTERS;
  }

  /** Milliseconds until the script may have an answer. @param now milliseconds */
  wait(now: number): number {
    return Math.max(0, this.#fullAt - now - 1000);
  }
}
