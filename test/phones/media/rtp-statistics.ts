import type { RtpPacket } from './rtp-packet.ts';

/** Quality of a received stream (RFC 3550 appendix A, without RTCP). */
export interface RtpReport {
  readonly received: number;
  /** Missing sequence numbers. */
  readonly lost: number;
  readonly outOfOrder: number;
  readonly duplicates: number;
  /** Audio packets more than 10 ms after their place in a 20 ms raster fixed by the earliest packet. */
  readonly late: number;
  /** Maximum lateness in milliseconds. */
  readonly worstLateMs: number;
  /** Changes of the synchronisation source. */
  readonly ssrcChanges: number;
  /** Packets with a timestamp that does not fit their sequence number, without a marker of a new talkspurt. */
  readonly timestampJumps: number;
}

const LATE_MS = 10;

/** Takes every packet of one direction of one call. */
export class RtpStatistics {
  /** Timestamp units of an audio packet. */
  units = 160;
  readonly #sequences = new Set<number>();
  #ssrc: number | undefined;
  #lost = 0;
  #received = 0;
  #highest = 0;
  #lowest = 0;
  #outOfOrder = 0;
  #duplicates = 0;
  #ssrcChanges = 0;
  #timestampJumps = 0;
  #late = 0;
  #worst = 0;
  #previous: RtpPacket | undefined;
  #origin: number | undefined;

  /** @param now milliseconds of a monotonic clock at arrival; @param audio false for telephone-events */
  receive(packet: RtpPacket, now: number, audio: boolean): void {
    if (packet.ssrc !== this.#ssrc) this.#newSource(packet);
    this.#received += 1;
    const sequence = this.#extend(packet.sequence);
    if (this.#sequences.has(sequence)) {
      this.#duplicates += 1;
      return;
    }
    this.#sequences.add(sequence);
    if (sequence < this.#highest) this.#outOfOrder += 1;
    this.#highest = Math.max(this.#highest, sequence);
    this.#lowest = Math.min(this.#lowest, sequence);
    if (audio) this.#checkTiming(packet, now);
  }

  report(): RtpReport {
    return {
      received: this.#received,
      lost: this.#lost + this.#missing(),
      outOfOrder: this.#outOfOrder,
      duplicates: this.#duplicates,
      late: this.#late,
      worstLateMs: Math.round(this.#worst),
      ssrcChanges: this.#ssrcChanges,
      timestampJumps: this.#timestampJumps,
    };
  }

  #missing(): number {
    return this.#sequences.size === 0 ? 0 : this.#highest - this.#lowest + 1 - this.#sequences.size;
  }

  #newSource(packet: RtpPacket): void {
    if (this.#ssrc !== undefined) this.#ssrcChanges += 1;
    this.#lost += this.#missing();
    this.#ssrc = packet.ssrc;
    this.#sequences.clear();
    // Room below, so that an early reordered packet stays positive.
    this.#highest = packet.sequence + 0x1_0000;
    this.#lowest = this.#highest;
    this.#previous = undefined;
    this.#origin = undefined;
  }

  #extend(sequence: number): number {
    const distance = ((sequence - this.#highest + 0x8000) & 0xffff) - 0x8000;
    return this.#highest + distance;
  }

  #checkTiming(packet: RtpPacket, now: number): void {
    const previous = this.#previous;
    this.#previous = packet;
    const steps = previous === undefined ? 0 : (packet.sequence - previous.sequence) & 0xffff;
    if (previous !== undefined && !packet.marker && steps === 1) {
      const elapsed = (packet.timestamp - previous.timestamp) >>> 0;
      if (elapsed !== this.units) this.#timestampJumps += 1;
    }
    const due = packet.timestamp / (this.units / 20);
    if (packet.marker || this.#origin === undefined) this.#origin = now - due;
    const lateness = now - due - this.#origin;
    if (lateness < 0) this.#origin += lateness;
    else if (lateness > LATE_MS) this.#late += 1;
    this.#worst = Math.max(this.#worst, lateness);
  }
}
