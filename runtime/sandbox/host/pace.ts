/** The rate limit of a script's commands. */
import { TokenBucket } from '../../rate/index.ts';

/** Number of characters that cost as much as a command. */
const CHARACTERS = 4096;

/**
 * Limits a script's rate, so that commands in a tight loop do not take the host's time. A command costs one token, and
 * so does each 4096 characters in either direction; answers are delayed while tokens are owed.
 */
export class Pace {
  readonly #bucket: TokenBucket;

  constructor(perSecond: number) {
    this.#bucket = new TokenBucket(perSecond);
  }

  /** Charges a command. @param now milliseconds */
  command(now: number): void {
    this.#bucket.spend(now);
  }

  /** Charges characters in either direction. @param now milliseconds */
  crossed(now: number, characters: number): void {
    this.#bucket.spend(now, characters / CHARACTERS);
  }

  /** Milliseconds until the next answer may be sent. @param now milliseconds */
  wait(now: number): number {
    return this.#bucket.wait(now, 0);
  }
}
