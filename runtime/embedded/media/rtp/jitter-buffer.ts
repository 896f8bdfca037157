import { FRAME_SAMPLES } from '../audio/format.ts';
import { sequenceDistance } from './packet.ts';

/** Frames held at most: 200 ms. */
const CAPACITY = 10;

/** A power of two, so that the slot of a sequence number is found across its wrap-around. */
const SLOTS = 16;

/** Frames waited for at the start and after running dry: one frame of jitter is absorbed. */
const PREFILL = 2;

/** As many packets at most, where they are shorter than a frame. */
const MAX_PREFILL = CAPACITY / 2;

/** Runs of this length with more than the prefill in hand show that the delay can be cut by a frame. */
const SURPLUS_FRAMES = 100;

/** Octets of the longest payload taken: three frames. */
const MAX_OCTETS = FRAME_SAMPLES * 3;

interface Slot {
  used: boolean;
  sequence: number;
  length: number;
  /** Where its octets begin in the buffer's. */
  readonly offset: number;
}

/**
 * Puts packets that arrive early, late, twice or out of order into the order and pace of the ticks. Fixed memory, taken with the first
 * packet: most calls are bridged and never listened to. Nothing is allocated per packet. Packets longer than a frame are
 * cut into frames by the caller, and shorter ones put together.
 */
export class JitterBuffer {
  #slots: readonly Slot[] = [];
  #octets = new Uint8Array(0);
  #next = 0;
  #newest = 0;
  #held = 0;
  #filling = true;
  #empty = true;
  #surplusFrames = 0;
  /** Packets that make PREFILL. */
  #prefill = PREFILL;
  /** Frames for which a first packet has been held back. */
  #waited = 0;
  /** Packets that came twice, too late, or when the buffer was full. */
  dropped = 0;
  /** Frames that were missing when they were due although later ones had come. */
  lost = 0;

  /** Frames in hand. */
  get depth(): number {
    return this.#held;
  }

  /** Takes the payload of one packet. */
  push(sequence: number, payload: Uint8Array, offset: number, length: number): void {
    if (length === 0 || length > MAX_OCTETS) {
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
    this.#prefill =
      length >= FRAME_SAMPLES ? PREFILL : Math.min(MAX_PREFILL, Math.ceil((PREFILL * FRAME_SAMPLES) / length));
    this.#store(sequence, payload, offset, length);
    while (this.#held > CAPACITY) this.#dropOldest();
  }

  /**
   * The packet that is due: asked for once a tick, or until the packets make a frame.
   *
   * @param target at least as long as a payload
   * @returns octets written; 0 when nothing is due (prefilling, run dry, or a lost packet)
   */
  pull(target: Uint8Array): number {
    if (this.#held === 0) {
      this.#filling = true;
      return 0;
    }
    if (this.#filling) {
      this.#waited += 1;
      // What nothing follows is played all the same, after the delay that it would have had.
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
      return 0;
    }
    for (let index = 0; index < slot.length; index += 1) target[index] = this.#octets[slot.offset + index] as number;
    slot.used = false;
    this.#held -= 1;
    return slot.length;
  }

  /** Forgets everything: another source follows. */
  reset(): void {
    for (const slot of this.#slots) slot.used = false;
    this.#held = 0;
    this.#empty = true;
    this.#filling = true;
    this.#surplusFrames = 0;
  }

  #takeMemory(): void {
    this.#octets = new Uint8Array(SLOTS * MAX_OCTETS);
    this.#slots = Array.from({ length: SLOTS }, (_, index) => ({
      used: false,
      sequence: 0,
      length: 0,
      offset: index * MAX_OCTETS,
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

  /** The sender jumped (restart, long pause): what is held belongs to the time before. */
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

  /** A clock that runs faster than ours fills the buffer slowly; a frame is given up to keep the delay small. */
  #trim(): void {
    this.#surplusFrames = this.#held > this.#prefill + 1 ? this.#surplusFrames + 1 : 0;
    if (this.#surplusFrames < SURPLUS_FRAMES) return;
    this.#surplusFrames = 0;
    this.#dropOldest();
  }
}
