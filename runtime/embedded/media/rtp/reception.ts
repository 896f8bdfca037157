/** What arrives of the far end's stream: lost packets and jitter. */
import { sequenceDistance, timestampDistance, type RtpPacket } from './packet.ts';

/** A larger jump of the sequence numbers is a restart of the sender (RFC 3550 appendix A.1, MAX_DROPOUT). */
const MOST_LOST = 3000;

/** Packets of a stream before its intervals count, as in FreeSWITCH (JITTER_LEAD_FRAMES). */
const LEAD = 10;

/** A longer time between two packets is a pause of the sender, ms. */
const PAUSE_MS = 1000;

/**
 * Follows one stream of packets. Lost are those that are missing between the lowest and the highest sequence number
 * (RFC 3550 appendix A.3). Jitter is the variance of the time between two packets around the time between their
 * timestamps.
 */
export class Reception {
  /** Timestamp units of a millisecond. */
  units = 8;
  #ssrc: number | undefined;
  #base = 0;
  /** Extended by the cycles of the sequence numbers. */
  #highest = -1;
  #packets = 0;
  /** Lost packets of earlier sources and restarts. */
  #lostBefore = 0;
  #lead = 0;
  #arrival = 0;
  #timestamp = 0;
  #intervals = 0;
  #sum = 0;
  #squares = 0;
  #least = Number.POSITIVE_INFINITY;
  #greatest = 0;
  /** Packets of all sources. */
  #all = 0;

  /** Lost packets. */
  get lost(): number {
    return this.#lostBefore + this.#lostNow();
  }

  /** Received packets. */
  get packets(): number {
    return this.#all;
  }

  /** Highest sequence number of the source, extended by its cycles; lost packets of it, for report blocks. */
  get source(): { readonly ssrc: number; readonly highest: number; readonly lost: number } {
    return { ssrc: this.#ssrc ?? 0, highest: this.#highest, lost: this.#lostNow() };
  }

  /** Mean time between two packets, ms. */
  get meanInterval(): number {
    return this.#intervals === 0 ? 0 : this.#sum / this.#intervals;
  }

  /** Smallest and greatest variance of the time between two packets in the course of the stream, ms². */
  get variance(): { readonly least: number; readonly greatest: number } {
    return { least: Number.isFinite(this.#least) ? this.#least : 0, greatest: this.#greatest };
  }

  /** A packet has come. @param now milliseconds of a monotonic clock */
  heard({ ssrc, sequence, timestamp }: RtpPacket, now: number): void {
    this.#all += 1;
    const ahead = sequenceDistance(this.#highest & 0xffff, sequence);
    if (ssrc !== this.#ssrc || Math.abs(ahead) > MOST_LOST) {
      this.#lostBefore = this.lost;
      this.#ssrc = ssrc;
      this.#base = sequence;
      this.#highest = sequence;
      this.#packets = 1;
      this.interrupt();
    } else {
      this.#packets += 1;
      if (ahead > 0) this.#highest += ahead;
    }
    this.#measure(timestamp, now);
  }

  /** The intervals are interrupted by a digit, a hold or the like; no packet counts as lost for that. */
  interrupt(): void {
    this.#lead = 0;
  }

  #lostNow(): number {
    // A duplicate hides a loss: it cannot be told from a late packet.
    return Math.max(0, this.#highest - this.#base + 1 - this.#packets);
  }

  #measure(timestamp: number, now: number): void {
    const interval = now - this.#arrival;
    const due = timestampDistance(this.#timestamp, timestamp) / this.units;
    this.#arrival = now;
    this.#timestamp = timestamp;
    this.#lead += 1;
    if (this.#lead <= LEAD || interval > PAUSE_MS || Math.abs(due) > PAUSE_MS) return;
    this.#intervals += 1;
    this.#sum += interval;
    this.#squares += (interval - due) ** 2;
    const variance = this.#squares / this.#intervals;
    this.#least = Math.min(this.#least, variance);
    this.#greatest = Math.max(this.#greatest, variance);
  }
}
