/** Packet indexes and replays of SRTP streams (RFC 3711 sections 3.3.1 and 3.3.2). */

/** Packets that a late packet may be behind the newest. */
const WINDOW = 128;

/** Sequence numbers of a rollover. */
const CYCLE = 65_536;

/** Follows the indexes of one stream, and knows which ones were used. */
export class PacketIndexes {
  #highest = -1;
  /** The last index in each slot. */
  readonly #seen = new Float64Array(WINDOW).fill(-1);

  /** The most likely index of a sequence number (RFC 3711 appendix A). */
  guess(sequence: number): number {
    if (this.#highest < 0) return sequence;
    const last = this.#highest % CYCLE;
    const base = this.#highest - last;
    if (sequence - last > CYCLE / 2 && base > 0) return base - CYCLE + sequence;
    if (last - sequence > CYCLE / 2) return base + CYCLE + sequence;
    return base + sequence;
  }

  /** Whether an index was used already, or is too old to tell. */
  used(index: number): boolean {
    return index <= this.#highest - WINDOW || this.#seen[index % WINDOW] === index;
  }

  use(index: number): void {
    if (index > this.#highest) this.#highest = index;
    this.#seen[index % WINDOW] = index;
  }
}
