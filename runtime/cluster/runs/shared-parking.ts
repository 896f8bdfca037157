/** The parking lot of all nodes. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import { OperationError } from '../../operations/index.ts';
import type { MemoryParkingLot, Parked, ParkingLot } from '../../runs/index.ts';
import { ClusterAwayError } from '../errors.ts';
import type { NameOwners } from '../link/name-owners.ts';
import type { Nodes } from '../nodes.ts';

const FIND = 'parking.find';

/**
 * A slot is a name that one node has, as a room's number is; the party waits at that node. Without NATS, a node gives out slots that are
 * free in its own lot, and claims them when NATS is back.
 */
export class SharedParking implements ParkingLot {
  readonly #local: MemoryParkingLot;
  readonly #owners: NameOwners;
  readonly #nodes: Nodes;

  /** Also answers the other nodes from now on. */
  constructor(local: MemoryParkingLot, owners: NameOwners, nodes: Nodes) {
    this.#local = local;
    this.#owners = owners;
    this.#nodes = nodes;
    nodes.serve(FIND, (asked) => {
      const { domain, slot } = asked as { readonly domain: string; readonly slot: string };
      return local.find(asDomainName(domain), slot) ?? null;
    });
  }

  async park(domain: DomainName, slot: string | undefined, parked: Parked): Promise<string | undefined> {
    for (const free of slot === undefined ? this.#local.free(domain) : [slot]) {
      if (this.#local.find(domain, free) !== undefined || !(await this.#isOurs(domain, free))) continue;
      const taken = this.#local.park(domain, free, parked);
      if (taken !== undefined) {
        this.#owners.hold(domain, free);
        return taken;
      }
      // Another party of this node was faster, or the lot is full.
      if (this.#local.find(domain, free) === undefined) this.#owners.release(domain, free);
    }
    return undefined;
  }

  /**
   * Two nodes may have given out a slot without NATS: who waited longer is found first, at every node.
   * @throws OperationError `node_unreachable`
   */
  async find(domain: DomainName, slot: string): Promise<Parked | undefined> {
    const here = this.#local.find(domain, slot);
    try {
      const answers = await this.#nodes.askAll<Parked | null>(FIND, { domain, slot });
      const all = [here, ...answers.map(({ answer }) => answer)].filter((each) => each !== undefined && each !== null);
      return all.toSorted((a, b) => a.since - b.since || (a.dialogid < b.dialogid ? -1 : 1))[0];
    } catch (error) {
      if (here !== undefined && isUnreachable(error)) return here;
      throw error;
    }
  }

  leave(domain: DomainName, slot: string): void {
    this.#local.leave(domain, slot);
    this.#owners.release(domain, slot);
  }

  async #isOurs(domain: DomainName, slot: string): Promise<boolean> {
    try {
      return await this.#owners.isOurs(domain, slot);
    } catch (error) {
      if (error instanceof ClusterAwayError) return true;
      throw error;
    }
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof OperationError && error.code === 'node_unreachable';
}
