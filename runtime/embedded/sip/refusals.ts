/** Reports refused connections, a bounded number of them. */
import type { Source } from '../stack/index.ts';

/** A refused connection, or a number of them that are not reported one by one. */
export interface RefusedConnection {
  readonly reason: string;
  readonly transport: string;
  readonly address: string;
  readonly port: number;
  /** Further refusals in the period before that were not reported. */
  readonly unreported: number;
}

/** Reports of one period, and its length, ms: a flood of connections must not become a flood of reports. */
const MOST = 10;
const PERIOD = 10_000;

/** Reports the first refusals of each period. */
export class Refusals {
  readonly #report: (refused: RefusedConnection) => void;
  #since = Number.NEGATIVE_INFINITY;
  #reported = 0;
  #unreported = 0;

  constructor(report: (refused: RefusedConnection) => void) {
    this.#report = report;
  }

  add(reason: string, { transport, address, port }: Source): void {
    const now = performance.now();
    if (now - this.#since >= PERIOD) {
      this.#since = now;
      this.#reported = 0;
    }
    if (this.#reported >= MOST) {
      this.#unreported += 1;
      return;
    }
    this.#reported += 1;
    this.#report({ reason, transport, address, port, unreported: this.#unreported });
    this.#unreported = 0;
  }
}
