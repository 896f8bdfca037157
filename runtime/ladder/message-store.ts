/** Keeps texts in memory, bounded by octets and by age. */
import { setImmediate as turn } from 'node:timers/promises';

/** Octets of a block. The oldest block is dropped as a whole. */
const BLOCK = 262_144;
/** Head of an entry: octets of its text, number of its kind, time. */
const HEAD = 4 + 4 + 8;

interface Block {
  readonly bytes: Buffer;
  used: number;
  /** Time of the newest entry. */
  last: number;
}

/** A kept text. `time`: milliseconds since the epoch. */
export interface Entry {
  readonly kind: number;
  readonly time: number;
  readonly text: string;
}

/**
 * Texts outside of the heap of JavaScript, so that the garbage collector has nothing to do with them. Keeping one costs
 * a copy; nothing is parsed or indexed before somebody asks.
 */
export class MessageStore {
  readonly #limit: number;
  readonly #ageMs: number;
  readonly #now: () => number;
  readonly #blocks: Block[] = [];
  #dropped = Number.NEGATIVE_INFINITY;

  /**
   * @param limit octets
   * @param ageMs older entries are not kept
   */
  constructor(limit: number, ageMs: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#ageMs = ageMs;
    this.#now = now;
  }

  /** Octets of memory in use. */
  get bytes(): number {
    return this.#blocks.length * BLOCK;
  }

  /** Time of the latest dropped entry, milliseconds since the epoch; entries after it are complete. */
  get droppedUntil(): number {
    return this.#dropped;
  }

  /** Keeps a text; one that is longer than a block is left out. */
  add(kind: number, text: string): void {
    const size = Buffer.byteLength(text);
    if (HEAD + size > BLOCK || this.#limit < BLOCK) return;
    const time = this.#now();
    let block = this.#blocks.at(-1);
    if (block === undefined || block.used + HEAD + size > BLOCK) {
      block = { bytes: Buffer.allocUnsafeSlow(BLOCK), used: 0, last: time };
      this.#blocks.push(block);
      this.expire();
    }
    const { bytes, used } = block;
    bytes.writeUInt32LE(size, used);
    bytes.writeUInt32LE(kind, used + 4);
    bytes.writeDoubleLE(time, used + 8);
    bytes.write(text, used + HEAD, 'utf8');
    block.used += HEAD + size;
    block.last = time;
  }

  /** Drops blocks beyond the limit, and those whose newest entry is too old. */
  expire(): void {
    const oldest = this.#now() - this.#ageMs;
    for (;;) {
      const [first] = this.#blocks;
      if (first === undefined || (this.bytes <= this.#limit && first.last >= oldest)) return;
      this.#dropped = first.last;
      this.#blocks.shift();
    }
  }

  /**
   * The entries of some kinds that contain one of the texts, oldest first. Other work goes on between the blocks.
   * @param isWanted whether entries of a kind are wanted
   */
  async find(needles: Iterable<string>, isWanted: (kind: number) => boolean): Promise<readonly Entry[]> {
    const wanted = [...new Set(needles)].filter((needle) => needle !== '');
    const found: Entry[] = [];
    const oldest = this.#now() - this.#ageMs;
    for (const block of this.#blocks.slice()) {
      found.push(...entriesWith(block, wanted, isWanted).filter(({ time }) => time >= oldest));
      await turn();
    }
    return found;
  }

  clear(): void {
    this.#blocks.length = 0;
  }
}

function entriesWith({ bytes, used }: Block, needles: readonly string[], isWanted: (kind: number) => boolean): Entry[] {
  const filled = bytes.subarray(0, used);
  const hits = needles.map((needle) => ({ needle, at: filled.indexOf(needle) })).filter(({ at }) => at !== -1);
  const found: Entry[] = [];
  for (let start = 0; start < used && hits.some(({ at }) => at !== -1); ) {
    const end = start + HEAD + bytes.readUInt32LE(start);
    let isHit = false;
    for (const hit of hits) {
      // A match may lie across two entries, or in the head of one.
      if (hit.at !== -1 && hit.at < start + HEAD) hit.at = filled.indexOf(hit.needle, start + HEAD);
      if (hit.at === -1 || hit.at >= end) continue;
      isHit ||= hit.at + Buffer.byteLength(hit.needle) <= end;
      hit.at = filled.indexOf(hit.needle, end);
    }
    const kind = bytes.readUInt32LE(start + 4);
    if (isHit && isWanted(kind)) {
      const text = bytes.toString('utf8', start + HEAD, end);
      found.push({ kind, time: bytes.readDoubleLE(start + 8), text });
    }
    start = end;
  }
  return found;
}
