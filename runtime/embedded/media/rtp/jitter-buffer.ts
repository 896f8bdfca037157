/** The jitter buffer of a received stream. */
import { FRAME_SAMPLES } from '../audio/format.ts';
import { sequenceDistance } from './packet.ts';

/** Largest number of frames held: 200 ms. */
const CAPACITY = 10;

/** A power of two, so that the slot of a sequence number is found across its wrap-around. */
const SLOTS = 16;

/** Frames to collect at the start and after running dry; this absorbs one frame of jitter. */
const PREFILL = 2;

/** Largest number of packets to collect, when they are shorter than a frame. */
const MAX_PREFILL = CAPACITY / 2;

/** After this many frames with more than the prefill in hand, the delay is cut by a frame. */
const SURPLUS_FRAMES = 100;

/** Longest accepted payload in octets: three frames of G.711. */
export const MAX_OCTETS = FRAME_SAMPLES * 3;

/** Octets of a frame of G.711, and of G.722. */
const FRAME_OCTETS = FRAME_SAMPLES;

interface Slot {
  used: boolean;
  sequence: number;
  length: number;
  /** Start of its octets in the buffer's memory. */
  readonly offset: number;
}

/**
 * Brings packets that arrive early, late, twice or out of order into the order and pace of the ticks. Its fixed memory
 * is allocated with the first packet, because most calls are bridged and never read. The caller splits packets longer
 * than a frame, and joins shorter ones.
 */
export class JitterBuffer {
  #slots: readonly Slot[] = [];
  #octets = new Uint8Array(0);
  #maxOctets = MAX_OCTETS;
  #next = 0;
  #newest = 0;
  #held = 0;
  #filling = true;
  #empty = true;
  #surplusFrames = 0;
  /** Number of packets in PREFILL frames. */
  #prefill = PREFILL;
  /** Frames since the first packet of the prefill. */
  #waited = 0;
  /** Packets dropped as duplicate, too late, or because the buffer was full. */
  dropped = 0;
  /** Frames that were missing at their due time although later ones had come. */
  lost = 0;

  /** Whether the last pull met a lost packet: later ones had come. */
  missing = false;

  /** Frames in hand. */
  get depth(): number {
    return this.#held;
  }

  /**
   * Takes the payload of one packet.
   * @param frames its length in frames; by default that of G.711
   */
  push(sequence: number, payload: Uint8Array, offset: number, length: number, frames = length / FRAME_OCTETS): void {
    if (length === 0 || length > this.#maxOctets) {
      this.dropped += 1;
      return;
    }
    if (this.#slots.length === 0) this.#takeMemory();
    if (this.#empty) {
      this.#next = sequence;
      this.#newest = sequence;
      this.#empty = false;
    }
    const ahead = sequenceDistance(this.#next, sequence);
    if (ahead < 0 && this.#filling && ahead > -CAPACITY && this.#held > 0) this.#next = sequence;
    else if (ahead < 0 && ahead > -CAPACITY) {
      this.dropped += 1;
      return;
    } else if (ahead >= CAPACITY || ahead <= -CAPACITY) this.#restart(sequence);
    this.#prefill = frames >= 1 ? PREFILL : Math.min(MAX_PREFILL, Math.ceil(PREFILL / frames));
    this.#store(sequence, payload, offset, length);
    while (this.#held > CAPACITY) this.#dropOldest();
  }

  /**
   * Takes the due packet. Called once a tick, or until the packets fill a frame.
   *
   * @param target memory for the payload, at least as long as the longest one
   * @returns octets written; 0 without a due packet (prefilling, run dry, or a lost packet)
   */
  pull(target: Uint8Array): number {
    this.missing = false;
    if (this.#held === 0) {
      this.#filling = true;
      return 0;
    }
    if (this.#filling) {
      this.#waited += 1;
      // A last packet without successors is played too, after the usual delay.
      if (this.#held < this.#prefill && this.#waited < PREFILL) return 0;
      this.#filling = false;
      this.#waited = 0;
      this.#skipToFirst();
    }
    this.#trim();
    const slot = this.#slot(this.#next);
    const present = slot.used && slot.sequence === this.#next;
    this.#next = (this.#next + 1) & 0xffff;
    if (!present) {
      this.lost += 1;
      this.missing = true;
      return 0;
    }
    for (let index = 0; index < slot.length; index += 1) target[index] = this.#octets[slot.offset + index] as number;
    slot.used = false;
    this.#held -= 1;
    return slot.length;
  }

  /** Copies the payload that follows a lost packet; returns its octets, 0 when it has not come either. */
  peek(target: Uint8Array): number {
    const slot = this.#slots.length === 0 ? undefined : this.#slot(this.#next);
    if (slot?.used !== true || slot.sequence !== this.#next) return 0;
    target.set(this.#octets.subarray(slot.offset, slot.offset + slot.length));
    return slot.length;
  }

  /** Empties the buffer, and sets the longest accepted payload in octets. */
  resize(maxOctets: number): void {
    this.reset();
    if (maxOctets === this.#maxOctets) return;
    this.#maxOctets = maxOctets;
    this.#slots = [];
    this.#octets = new Uint8Array(0);
  }

  /** Empties the buffer, for another source. */
  reset(): void {
    for (const slot of this.#slots) slot.used = false;
    this.#held = 0;
    this.#empty = true;
    this.#filling = true;
    this.#surplusFrames = 0;
  }

  #takeMemory(): void {
    this.#octets = new Uint8Array(SLOTS * this.#maxOctets);
    this.#slots = Array.from({ length: SLOTS }, (_, index) => ({
      used: false,
      sequence: 0,
      length: 0,
      offset: index * this.#maxOctets,
    }));
  }

  #slot(sequence: number): Slot {
    return this.#slots[sequence & (SLOTS - 1)] as Slot;
  }

  #store(sequence: number, payload: Uint8Array, offset: number, length: number): void {
    const slot = this.#slot(sequence);
    if (slot.used && slot.sequence === sequence) {
      this.dropped += 1;
      return;
    }
    if (slot.used) this.#held -= 1;
    slot.used = true;
    slot.sequence = sequence;
    slot.length = length;
    for (let index = 0; index < length; index += 1) {
      this.#octets[slot.offset + index] = payload[offset + index] as number;
    }
    this.#held += 1;
    if (sequenceDistance(this.#newest, sequence) > 0) this.#newest = sequence;
  }

  /** Starts again after a jump of the sender (restart, long pause); the held packets are outdated. */
  #restart(sequence: number): void {
    this.reset();
    this.#empty = false;
    this.#next = sequence;
    this.#newest = sequence;
  }

  #skipToFirst(): void {
    for (let count = 0; count < SLOTS; count += 1) {
      const slot = this.#slot(this.#next);
      if (slot.used && slot.sequence === this.#next) return;
      this.#next = (this.#next + 1) & 0xffff;
    }
  }

  #dropOldest(): void {
    this.#skipToFirst();
    const slot = this.#slot(this.#next);
    slot.used = false;
    this.#held -= 1;
    this.dropped += 1;
    this.#next = (this.#next + 1) & 0xffff;
  }

  /** Drops a frame when the sender's faster clock has slowly filled the buffer, to keep the delay small. */
  #trim(): void {
    this.#surplusFrames = this.#held > this.#prefill + 1 ? this.#surplusFrames + 1 : 0;
    if (this.#surplusFrames < SURPLUS_FRAMES) return;
    this.#surplusFrames = 0;
    this.#dropOldest();
  }
}
