/** Digits as telephone-events (RFC 4733). */
import { FRAME_MS, FRAME_SAMPLES } from '../audio/format.ts';
import { sequenceDistance } from './packet.ts';

/** Events 0..15 of RFC 4733 section 3.2, in the order of their codes. */
const DIGITS = '0123456789*#ABCD';

/** Octets of a telephone-event payload (RFC 4733 section 2.3). */
const EVENT_PAYLOAD_BYTES = 4;

/** Number of transmissions of an event's last packet (RFC 4733 section 2.5.1.4). */
const END_PACKETS = 3;

/** A packet with a sequence number this far back is not late: as in FreeSWITCH, its sender has restarted. */
const RESTART_DISTANCE = 100;

/** The most that the field of a duration holds. */
const MOST_DURATION = 0xffff;

/** Sent tone level: 10 is -10 dBm0. */
const VOLUME = 10;

/** A digit that has ended, with its duration in timestamp units. */
export interface ReceivedDigit {
  readonly digit: string;
  readonly duration: number;
}

/**
 * Assembles digits from the packets of telephone-events (RFC 4733 section 2.5.2.2): one digit for each event timestamp,
 * reported at its end packet. Repeated end packets and late packets are ignored. An event without any end packet is
 * reported when the next one starts. As in FreeSWITCH, lateness is judged by sequence number, because test tools play
 * digits with captured timestamps, which jump back and forth.
 */
export class TelephoneEventReceiver {
  #timestamp: number | undefined;
  #newest: number | undefined;
  #digit = '';
  #duration = 0;
  #reported = true;

  /** True while an event has begun and not ended. */
  get active(): boolean {
    return !this.#reported;
  }

  /**
   * Takes one payload.
   *
   * @returns the digit that this packet completes, if any; an invalid payload completes none
   */
  receive(
    payload: Uint8Array,
    offset: number,
    length: number,
    { timestamp, sequence }: { readonly timestamp: number; readonly sequence: number },
  ): ReceivedDigit | undefined {
    if (length < EVENT_PAYLOAD_BYTES) return undefined;
    const digit = DIGITS[payload[offset] as number];
    if (digit === undefined) return undefined;
    const ended = ((payload[offset + 1] as number) & 0x80) !== 0;
    const duration = ((payload[offset + 2] as number) << 8) | (payload[offset + 3] as number);
    let lost: ReceivedDigit | undefined;
    if (timestamp !== this.#timestamp) {
      // A packet of an older event than the current one.
      if (this.#isLate(sequence)) return undefined;
      lost = this.flush();
      this.#timestamp = timestamp;
      this.#digit = digit;
      this.#duration = duration;
      this.#reported = false;
    }
    if (!this.#isLate(sequence)) this.#newest = sequence;
    this.#duration = Math.max(this.#duration, duration);
    return ended ? (this.flush() ?? lost) : lost;
  }

  /** Ends the current event: the far end went silent or changed. */
  flush(): ReceivedDigit | undefined {
    if (this.#reported) return undefined;
    this.#reported = true;
    return { digit: this.#digit, duration: this.#duration };
  }

  /** Resets the receiver for another source. */
  reset(): void {
    this.#timestamp = undefined;
    this.#newest = undefined;
    this.#reported = true;
  }

  #isLate(sequence: number): boolean {
    if (this.#newest === undefined) return false;
    const ahead = sequenceDistance(this.#newest, sequence);
    return ahead <= 0 && ahead >= -RESTART_DISTANCE;
  }
}

/** Multiplies the duration in an event's payload: both sides of a bridge may count it by other clocks. */
export function rescaleEvent(payload: Uint8Array, offset: number, factor: number): void {
  const duration = ((payload[offset + 2] as number) << 8) | (payload[offset + 3] as number);
  const scaled = Math.min(MOST_DURATION, Math.round(duration * factor));
  payload[offset + 2] = scaled >> 8;
  payload[offset + 3] = scaled & 0xff;
}

interface QueuedDigit {
  readonly code: number;
  readonly frames: number;
}

/** A pause in frames within a string of digits. */
interface QueuedPause {
  readonly pause: number;
}

/** Length of the pause characters in frames of 20 ms: `w` half a second, `W` a second. */
const PAUSES: Readonly<Record<string, number>> = { w: 25, W: 50 };

/** A packet to send in this frame slot. */
export interface EventPacket {
  readonly marker: boolean;
  /** Frames since the event's start, whose timestamp all its packets have. */
  readonly framesSinceStart: number;
}

/**
 * Sends digits as telephone-events, one packet a frame (RFC 4733 section 2.5.1): growing duration under one
 * timestamp, marker on the first packet, three end packets, a pause between digits.
 */
export class TelephoneEventSender {
  readonly #queue: (QueuedDigit | QueuedPause)[] = [];
  readonly payload = new Uint8Array(EVENT_PAYLOAD_BYTES);
  /** Timestamp units of a frame in durations. */
  frameUnits = FRAME_SAMPLES;
  #current: QueuedDigit | undefined;
  #frame = 0;
  #ends = 0;
  #pauseFrames = 0;

  /** Digits waiting or being sent. */
  get pending(): number {
    return this.#queue.length + (this.#current === undefined ? 0 : 1);
  }

  /**
   * Queues digits.
   *
   * @param digits characters 0-9, *, #, A-D, and the pauses `w` (half a second) and `W` (a second); others are ignored
   * @param milliseconds length of each digit, 40..8000
   * @returns number of queued digits
   */
  enqueue(digits: string, milliseconds: number): number {
    // As observed at FreeSWITCH: a digit lasts whole frames.
    const frames = Math.ceil(Math.min(Math.max(Math.round(milliseconds), 40), 8000) / FRAME_MS);
    let count = 0;
    for (const character of digits) {
      const pause = PAUSES[character];
      const code = DIGITS.indexOf(character.toUpperCase());
      if (pause === undefined && code < 0) continue;
      this.#queue.push(pause === undefined ? { code, frames } : { pause });
      count += 1;
    }
    return count;
  }

  /**
   * Advances by one frame.
   *
   * @returns the packet to send now (its payload is in `payload`); `gap` for the pause between two digits; undefined
   *   when the frame is free for audio
   */
  next(): EventPacket | 'gap' | undefined {
    if (this.#current === undefined) {
      if (this.#pauseFrames > 0) {
        this.#pauseFrames -= 1;
        return 'gap';
      }
      const next = this.#queue[0];
      if (next === undefined) return undefined;
      if ('pause' in next) {
        if (next.pause > 1) this.#queue[0] = { pause: next.pause - 1 };
        else this.#queue.shift();
        return undefined;
      }
      this.#queue.shift();
      this.#current = next;
      this.#frame = 0;
      this.#ends = 0;
    }
    const { code, frames } = this.#current;
    const ending = this.#frame + 1 >= frames;
    // Sixteen bits hold 1.3 s at 48 kHz; a longer digit stays at the most (RFC 4733 section 2.3.5).
    const duration = Math.min(Math.min(this.#frame + 1, frames) * this.frameUnits, MOST_DURATION);
    this.payload[0] = code;
    this.payload[1] = (ending ? 0x80 : 0) | VOLUME;
    this.payload[2] = duration >> 8;
    this.payload[3] = duration & 0xff;
    const packet = { marker: this.#frame === 0, framesSinceStart: this.#frame };
    this.#frame += 1;
    if (ending) this.#ends += 1;
    if (this.#ends === END_PACKETS) {
      this.#current = undefined;
      this.#pauseFrames = 1;
    }
    return packet;
  }

  /** Drops the waiting digits. */
  clear(): void {
    this.#queue.length = 0;
    this.#current = undefined;
  }
}
