import { TokenBucket } from '../../rate/index.ts';

/** Characters that cost as much as a command. */
const CHARACTERS = 4096;

/**
 * Keeps a script to a rate, so that one in a tight loop of commands does not take the host's time. A command costs a token, and
 * what crosses the border one for every 4096 characters; answers wait for what is owed.
 */
export class Pace {
  readonly #bucket: TokenBucket;

  constructor(perSecond: number) {
    this.#bucket = new TokenBucket(perSecond);
  }

  /** The script gave a command. @param now milliseconds */
  command(now: number): void {
    this.#bucket.spend(now);
  }

  /** So many characters went to the script, or came from it. @param now milliseconds */
  crossed(now: number, characters: number): void {
    this.#bucket.spend(now, characters / CHARACTERS);
  }

  /** Milliseconds until the script may have an answer. @param now milliseconds */
  wait(now: number): number {
    return this.#bucket.wait(now, 0);
  }
}
