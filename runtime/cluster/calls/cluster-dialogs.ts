/** The parties of the live dialogs of all nodes, for plans of operations. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import type { SeenDialog } from '../../operations/index.ts';
import type { DialogPort } from '../../runs/index.ts';
import type { Nodes } from '../nodes.ts';

const LEGS = 'calls.legs';

export class ClusterDialogs {
  readonly #local: DialogPort;
  readonly #nodes: Nodes;

  /** Also answers the other nodes from now on. */
  constructor(local: DialogPort, nodes: Nodes) {
    this.#local = local;
    this.#nodes = nodes;
    nodes.serve(LEGS, (asked) => {
      const { domain, dialogid } = asked as { readonly domain: string; readonly dialogid: string };
      return this.#here(asDomainName(domain), dialogid) ?? null;
    });
  }

  /** @throws OperationError `node_unreachable` while a node does not answer */
  async find(domain: DomainName, dialogid: string): Promise<SeenDialog | undefined> {
    const here = this.#here(domain, dialogid);
    if (here !== undefined) return here;
    const answers = await this.#nodes.askAll<SeenDialog | null>(LEGS, { domain, dialogid });
    return answers.find(({ answer }) => answer !== null)?.answer ?? undefined;
  }

  #here(domain: DomainName, dialogid: string): SeenDialog | undefined {
    const found = this.#local.find(domain, dialogid);
    return found && { dialogid: found.dialogid, status: found.status, legs: found.legs };
  }
}
