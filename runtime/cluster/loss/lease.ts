/** Whether a claim is still this node's. */
import type { Claims } from './claims.ts';

/**
 * Milliseconds for which an answer of the database counts. Others take a claim over after 2.2 s of silence, at most 0.6 s of which are
 * between two heartbeats.
 */
const COUNTS_MS = 1200;

/** A node that stood still looks again before it goes on: another one may have gone on instead. */
export class Lease {
  readonly #claims: Pick<Claims, 'holder'>;
  readonly #self: string;
  readonly #id: string;
  #asked = Number.NEGATIVE_INFINITY;
  #looking: Promise<boolean> | undefined;

  /**
   * @param self id of this process
   * @param id of the dead one
   */
  constructor(claims: Pick<Claims, 'holder'>, self: string, id: string) {
    this.#claims = claims;
    this.#self = self;
    this.#id = id;
  }

  /** @throws errors of storage */
  async isOurs(): Promise<boolean> {
    while (performance.now() - this.#asked > COUNTS_MS) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      if (!(await this.#looking)) return false;
    }
    return true;
  }

  async #look(): Promise<boolean> {
    const asked = performance.now();
    if ((await this.#claims.holder(this.#id)) !== this.#self) return false;
    this.#asked = asked;
    return true;
  }
}
