/** Requests with an Idempotency-Key that another node is answering. */
import type { FirstRequests } from '../idempotency/index.ts';
import { NodeGoneError } from './errors.ts';
import type { Nodes } from './nodes.ts';

const WAIT = 'first-answers.wait';
/** Milliseconds that a request may take; see `START_MS` of the operations. */
const WAIT_MS = 7_500_000;

/** Lets a repeat wait for the first request at another node. */
export class ClusterFirstRequests implements FirstRequests {
  readonly self: string;
  readonly #nodes: Nodes;

  /** @param self id of this process */
  constructor(self: string, nodes: Nodes) {
    this.self = self;
    this.#nodes = nodes;
  }

  /** Lets other nodes wait for the requests of this one. @param settled resolves when the request is over, or unknown */
  answer(settled: (id: string) => Promise<void>): void {
    this.#nodes.serve(WAIT, async (asked) => {
      await settled((asked as { readonly id: string }).id);
      return true;
    });
  }

  async settled(owner: string, id: string): Promise<void> {
    try {
      await this.#nodes.ask(owner, WAIT, { id }, WAIT_MS);
    } catch (error) {
      if (!(error instanceof NodeGoneError)) throw error;
    }
  }
}
