/** An outgoing RTP stream. */
import { randomBytes } from 'node:crypto';
import { FRAME_MS, FRAME_SAMPLES } from '../audio/format.ts';
import { MOST_OVERHEAD } from '../srtp/transform.ts';
import { RTP_HEADER_BYTES, type RtpPacket, sequenceDistance, timestampDistance, writeRtpHeader } from './packet.ts';

/** Longest payload: 200 ms of G.711, the longest that some gateways use. */
export const MAX_PAYLOAD = 1600;

/**
 * One outgoing RTP stream (RFC 3550 section 5.1) with its own SSRC and a random start of sequence number and timestamp.
 * Its packets are either frames of the ticker, or packets of another stream whose order, losses and timing it keeps (a
 * translator, section 7.1). Sequence number and timestamp continue across a change between both.
 */
export class RtpSender {
  readonly ssrc: number;
  /** The datagram of the last call, valid until the next. Its length is the call's result. */
  readonly datagram = Buffer.alloc(RTP_HEADER_BYTES + MAX_PAYLOAD + MOST_OVERHEAD);
  /**
   * Cached view of the datagram with the last length: nearly all have one length, and a new view costs as much as a
   * frame.
   */
  #cut = this.datagram.subarray(0, 0);
  #sequence: number;
  #timestamp = 0;
  #base: number;
  /** Timestamp units of a frame. */
  #units = FRAME_SAMPLES;
  #idle = true;
  #lastFrame = -1;
  #started = false;
  #stamped = false;

  #source = 0;
  #translating = false;
  #sourceSequence = 0;
  #sequenceShift = 0;
  #timestampShift = 0;

  constructor() {
    const random = randomBytes(10);
    this.ssrc = random.readUInt32BE(0);
    this.#base = random.readUInt32BE(4);
    // In the lower half, so that a lost first packet hides no rollover from a far end with SRTP (RFC 3711 section 3.3.1).
    this.#sequence = random.readUInt16BE(8) % 0x8000;
  }

  /** Changes the clock of the timestamps, in units a second: they go on from the last one (RFC 3550 section 5.1). */
  setClock(rate: number, frame: number): void {
    const units = (rate * FRAME_MS) / 1000;
    if (units === this.#units) return;
    this.#units = units;
    this.#translating = false;
    if (this.#stamped) this.#base = (this.#timestamp - frame * units) >>> 0;
  }

  /** The datagram of the last call, cut to the length that the call returned. */
  cut(length: number): Buffer {
    if (this.#cut.length !== length) this.#cut = this.datagram.subarray(0, length);
    return this.#cut;
  }

  /**
   * Builds the packet of a frame slot. The caller has written the payload at RTP_HEADER_BYTES of `datagram`.
   *
   * @param frame the ticker's frame number, the time base of the timestamp
   * @returns length of the datagram
   */
  frame(frame: number, payloadType: number, payloadLength: number): number {
    this.#translating = false;
    // After a pause, or after skipped frame slots, a talkspurt begins (RFC 3551 section 4.1).
    const marker = this.#idle || frame !== this.#lastFrame + 1;
    this.#idle = false;
    this.#lastFrame = frame;
    const sequence = this.#nextSequence();
    return this.#write(marker, payloadType, sequence, this.#clockTimestamp(frame), payloadLength);
  }

  /** Builds a telephone-event packet around the payload in place. `framesSinceStart` comes from the event sender. */
  event(frame: number, payloadType: number, payloadLength: number, marker: boolean, framesSinceStart: number): number {
    this.#translating = false;
    const timestamp = marker ? this.#clockTimestamp(frame) : this.#timestamp;
    // The timestamp of an event is that of its start; #timestamp stays there until the next audio frame.
    this.#idle = true;
    return this.#write(marker && framesSinceStart === 0, payloadType, this.#nextSequence(), timestamp, payloadLength);
  }

  /**
   * Builds the packet that forwards another stream's packet; the payload is in place.
   *
   * @param frame the ticker's frame number, used when a stream begins
   * @param source the received packet
   * @returns length of the datagram
   */
  translate(frame: number, source: RtpPacket, payloadType: number, payloadLength: number): number {
    const begins = !this.#translating || this.#source !== source.ssrc;
    const jump = begins ? 0 : sequenceDistance(this.#sourceSequence, source.sequence);
    if (begins || jump > 1000 || jump < -100) {
      this.#translating = true;
      this.#source = source.ssrc;
      this.#sequenceShift = this.#nextSequence() - source.sequence;
      this.#timestampShift = this.#clockTimestamp(frame) - source.timestamp;
      this.#sourceSequence = source.sequence;
    } else if (jump > 0) this.#sourceSequence = source.sequence;
    const sequence = (source.sequence + this.#sequenceShift) & 0xffff;
    const timestamp = (source.timestamp + this.#timestampShift) >>> 0;
    if (sequenceDistance(this.#sequence, sequence) > 0) this.#sequence = sequence;
    if (timestampDistance(this.#timestamp, timestamp) > 0) this.#timestamp = timestamp;
    return this.#write(begins || source.marker, payloadType, sequence, timestamp, payloadLength);
  }

  /** Leaves out a packet of the translated stream. Later numbers close the gap, so it does not look like a loss. */
  omit(source: RtpPacket): void {
    if (!this.#translating || this.#source !== source.ssrc) return;
    if (sequenceDistance(this.#sourceSequence, source.sequence) <= 0) return;
    this.#sourceSequence = source.sequence;
    this.#sequenceShift -= 1;
  }

  /** Interrupts the translation. The next packet continues the own numbers, so the gap does not look like a loss. */
  interrupt(): void {
    this.#translating = false;
  }

  /** Notes an unused frame slot: the next packet starts a talkspurt. */
  pause(): void {
    this.#idle = true;
  }

  #nextSequence(): number {
    if (this.#started) this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#started = true;
    return this.#sequence;
  }

  /** The timestamp of the ticker's frame, moved on if the last sent packet is already past it. */
  #clockTimestamp(frame: number): number {
    const units = this.#units;
    let timestamp = (this.#base + frame * units) >>> 0;
    if (this.#stamped) {
      const ahead = timestampDistance(this.#timestamp, timestamp);
      if (ahead < units) {
        this.#base = (this.#base + units - ahead) >>> 0;
        timestamp = (this.#timestamp + units) >>> 0;
      }
    }
    this.#stamped = true;
    this.#timestamp = timestamp;
    return timestamp;
  }

  #write(marker: boolean, payloadType: number, sequence: number, timestamp: number, length: number): number {
    writeRtpHeader(this.datagram, marker, payloadType, sequence, timestamp, this.ssrc);
    return RTP_HEADER_BYTES + length;
  }
}
