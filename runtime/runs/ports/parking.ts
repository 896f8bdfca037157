/** Parked calls. */
import type { DomainName } from '../../domain-name/index.ts';
import type { DialogSide } from '../call-values.ts';

/** A parked call. */
export interface Parked extends DialogSide {
  /** Number of the waiting party. */
  readonly number: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A parking lot: calls wait in numbered slots until they are retrieved. */
export interface ParkingLot {
  /**
   * @param slot undefined: the first free one
   * @returns the slot; undefined when it is taken or the lot is full
   */
  park(domain: DomainName, slot: string | undefined, parked: Parked): string | undefined | Promise<string | undefined>;
  /** @throws ScenarioError `node_unreachable` while other nodes of a cluster cannot be asked */
  find(domain: DomainName, slot: string): Parked | undefined | Promise<Parked | undefined>;
  leave(domain: DomainName, slot: string): void;
}

/** Range of automatically chosen slots. */
const FIRST_SLOT = 701;
const LAST_SLOT = 799;
const MAX_PARKED = 10_000;

/** A parking lot in memory, for the calls of one node. */
export class MemoryParkingLot implements ParkingLot {
  readonly #slots = new Map<string, Parked>();

  park(domain: DomainName, slot: string | undefined, parked: Parked): string | undefined {
    const [free] = slot === undefined ? this.free(domain) : [slot];
    if (free === undefined || this.#slots.has(key(domain, free)) || this.#slots.size >= MAX_PARKED) return undefined;
    this.#slots.set(key(domain, free), parked);
    return free;
  }

  find(domain: DomainName, slot: string): Parked | undefined {
    return this.#slots.get(key(domain, slot));
  }

  leave(domain: DomainName, slot: string): void {
    this.#slots.delete(key(domain, slot));
  }

  /** The slots that are free at the moment, of those that are given out. */
  *free(domain: DomainName): Iterable<string> {
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot += 1)
      if (!this.#slots.has(key(domain, String(slot)))) yield String(slot);
  }
}

function key(domain: DomainName, slot: string): string {
  return `${domain} ${slot}`;
}
