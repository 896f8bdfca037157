/** Loss, delay and jitter of one received stream. */

/** A packet is late when it comes this much later than the fastest one, ms: two packets. */
const LATE_MS = 40;
const CLOCK_KHZ = 8;

/** Figures of received packets; those of several streams can be added. */
export interface Received {
  packets: number;
  lost: number;
  late: number;
  /** The highest smoothed jitter of a stream (RFC 3550 section 6.4.1), ms. */
  jitterMs: number;
}

/** Counts the packets of one stream. A new SSRC begins a new count of sequence numbers. */
export class Reception implements Received {
  packets = 0;
  late = 0;
  jitterMs = 0;
  #lostBefore = 0;
  #ssrc: number | undefined;
  #first = 0;
  #highest = 0;
  #unique = 0;
  #transit = 0;
  #fastest = 0;
  #jitter = 0;

  /** Packets that never came, up to the last one that did. */
  get lost(): number {
    return this.#ssrc === undefined
      ? 0
      : this.#lostBefore + Math.max(0, this.#highest - this.#first + 1 - this.#unique);
  }

  /** @param now milliseconds of a monotonic clock */
  receive(packet: Buffer, now: number): void {
    const sequence = packet.readUInt16BE(2);
    const ssrc = packet.readUInt32BE(8);
    const transit = now - packet.readUInt32BE(4) / CLOCK_KHZ;
    this.packets += 1;
    if (ssrc !== this.#ssrc) {
      this.#lostBefore = this.lost;
      this.#ssrc = ssrc;
      this.#first = sequence;
      this.#highest = sequence;
      this.#unique = 1;
      this.#restart(transit);
      return;
    }
    // Extended by the nearest cycle of 16 bits.
    const step = ((sequence - this.#highest + 0x8000) & 0xffff) - 0x8000;
    this.#unique += 1;
    if (step > 0) this.#highest += step;
    const isTalkspurt = (packet.readUInt8(1) & 0x80) !== 0;
    // Timestamps may jump there, and at their 32nd bit.
    if (isTalkspurt || Math.abs(transit - this.#transit) > 10_000) this.#restart(transit);
    else this.#measure(transit);
  }

  #restart(transit: number): void {
    this.#transit = transit;
    this.#fastest = transit;
    this.#jitter = 0;
  }

  #measure(transit: number): void {
    this.#jitter += (Math.abs(transit - this.#transit) - this.#jitter) / 16;
    this.jitterMs = Math.max(this.jitterMs, this.#jitter);
    this.#transit = transit;
    this.#fastest = Math.min(this.#fastest, transit);
    if (transit - this.#fastest > LATE_MS) this.late += 1;
  }
}

/** Adds the figures of a stream. */
export function addReceived(sum: Received, one: Received): void {
  sum.packets += one.packets;
  sum.lost += one.lost;
  sum.late += one.late;
  sum.jitterMs = Math.max(sum.jitterMs, one.jitterMs);
}
