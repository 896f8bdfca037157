import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';

/** An RTP packet received by a phone. */
export interface HeardPacket {
  readonly at: number;
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

const muLaw = Int16Array.from({ length: 256 }, (_, octet) => {
  const bits = ~octet & 0xff;
  const magnitude = (((bits & 15) << 3) + 132) << ((bits & 0x70) >> 4);
  return bits & 0x80 ? 132 - magnitude : magnitude - 132;
});

const aLaw = Int16Array.from({ length: 256 }, (_, octet) => {
  const bits = octet ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const magnitude = exponent === 0 ? ((bits & 15) << 4) + 8 : (((bits & 15) << 4) + 0x108) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
});

/** The octet whose decoded value is nearest: independent of the tables under test. */
function encodeWith(table: Int16Array): (sample: number) => number {
  const cache = new Map<number, number>();
  return (sample) => {
    let best = cache.get(sample);
    if (best === undefined) {
      best = 0;
      for (let octet = 1; octet < 256; octet += 1) {
        if (Math.abs((table[octet] as number) - sample) < Math.abs((table[best] as number) - sample)) best = octet;
      }
      cache.set(sample, best);
    }
    return best;
  };
}

const encodeMuLaw = encodeWith(muLaw);
const encodeALaw = encodeWith(aLaw);

/** A phone's media: sends a tone or digits in real time, records the received sound, and recognises tones. */
export class RtpPhone {
  readonly heard: HeardPacket[] = [];
  readonly payloadType: 0 | 8;
  readonly #socket: Socket;
  readonly #ssrc = randomBytes(4).readUInt32BE(0);
  #sequence = randomBytes(2).readUInt16BE(0);
  #timestamp = randomBytes(4).readUInt32BE(0);
  #target: { port: number; address: string } | undefined;
  #frequency = 0;
  #phase = 0;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #digits: { code: number; frame: number; frames: number }[] = [];

  private constructor(socket: Socket, payloadType: 0 | 8) {
    this.#socket = socket;
    this.payloadType = payloadType;
    socket.on('message', (message) => {
      this.heard.push({
        at: performance.now(),
        marker: ((message[1] as number) & 0x80) !== 0,
        payloadType: (message[1] as number) & 0x7f,
        sequence: message.readUInt16BE(2),
        timestamp: message.readUInt32BE(4),
        ssrc: message.readUInt32BE(8),
        payload: Buffer.from(message.subarray(12)),
      });
    });
  }

  static async open(payloadType: 0 | 8 = 0): Promise<RtpPhone> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new RtpPhone(socket, payloadType);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Offer or answer of this phone. */
  sdp(direction = 'sendrecv', formats = `${this.payloadType} 101`): string {
    return [
      'v=0',
      'o=- 42 1 IN IP4 127.0.0.1',
      's=-',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      `m=audio ${this.port} RTP/AVP ${formats}`,
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=ptime:20',
      `a=${direction}`,
      '',
    ].join('\r\n');
  }

  /** Starts sending to the media port in the SDP: a tone, or silence with frequency 0. */
  talk(sdp: string, frequency: number): void {
    const port = Number(/^m=audio (\d+)/m.exec(sdp)?.[1]);
    this.#target = { port, address: '127.0.0.1' };
    this.#frequency = frequency;
    if (this.#timer !== undefined) return;
    this.#next = performance.now();
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  /** Changes the tone being sent; 0 is silence. */
  tune(frequency: number): void {
    this.#frequency = frequency;
  }

  quiet(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Sends a digit of 160 ms as RFC 4733 telephone-event in place of audio. */
  press(digit: string): void {
    this.#digits.push({ code: '0123456789*#ABCD'.indexOf(digit), frame: 0, frames: 8 });
  }

  /** Sends raw bytes to the media server, like a stranger or a broken phone. */
  sendRaw(data: Uint8Array, port: number): void {
    this.#socket.send(data, port, '127.0.0.1');
  }

  /** Audio packets since a moment. */
  audio(since = 0): HeardPacket[] {
    return this.heard.filter((packet) => packet.payloadType === this.payloadType && packet.at >= since);
  }

  /** Level of a frequency in what was heard since a moment: amplitude, 0..32767 (Goertzel). */
  level(frequency: number, since = 0, end = Number.POSITIVE_INFINITY): number {
    return amplitude(this.samples(since, end), frequency);
  }

  samples(since = 0, end = Number.POSITIVE_INFINITY): Int16Array {
    const table = this.payloadType === 0 ? muLaw : aLaw;
    const packets = this.audio(since).filter((packet) => packet.at <= end);
    return Int16Array.from(Buffer.concat(packets.map((packet) => packet.payload)), (octet) => table[octet] as number);
  }

  /** Digits heard as telephone-events, one for each event. */
  digits(): string {
    let text = '';
    let last: number | undefined;
    for (const packet of this.heard) {
      if (packet.payloadType !== 101 || packet.timestamp === last) continue;
      last = packet.timestamp;
      text += '0123456789*#ABCD'[packet.payload[0] as number];
    }
    return text;
  }

  async close(): Promise<void> {
    this.quiet();
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #sendDue(): void {
    while (performance.now() >= this.#next) {
      this.#next += 20;
      this.#sendFrame();
    }
  }

  #sendFrame(): void {
    const target = this.#target as { port: number; address: string };
    const digit = this.#digits[0];
    const payload = digit === undefined ? this.#tone() : Buffer.alloc(4);
    let timestamp = this.#timestamp;
    if (digit !== undefined) {
      const elapsed = Math.min(digit.frame + 1, digit.frames) * 160;
      payload[0] = digit.code;
      payload[1] = (digit.frame + 1 >= digit.frames ? 0x80 : 0) | 10;
      payload.writeUInt16BE(elapsed, 2);
      timestamp = (this.#timestamp - digit.frame * 160) >>> 0;
      digit.frame += 1;
      if (digit.frame === digit.frames + 2) this.#digits.shift();
    }
    const header = Buffer.alloc(12);
    header[0] = 0x80;
    header[1] = digit === undefined ? this.payloadType : 101 | (digit.frame === 1 ? 0x80 : 0);
    header.writeUInt16BE(this.#sequence, 2);
    header.writeUInt32BE(timestamp, 4);
    header.writeUInt32BE(this.#ssrc, 8);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + 160) >>> 0;
    this.#socket.send(Buffer.concat([header, payload]), target.port, target.address);
  }

  #tone(): Buffer {
    const encode = this.payloadType === 0 ? encodeMuLaw : encodeALaw;
    const payload = Buffer.alloc(160);
    for (let index = 0; index < 160; index += 1, this.#phase += 1) {
      const sample = this.#frequency === 0 ? 0 : 8000 * Math.sin((2 * Math.PI * this.#frequency * this.#phase) / 8000);
      payload[index] = encode(Math.round(sample));
    }
    return payload;
  }
}

/** Amplitude of one frequency in 8 kHz samples. */
export function amplitude(samples: Int16Array, frequency: number): number {
  let sine = 0;
  let cosine = 0;
  for (let index = 0; index < samples.length; index += 1) {
    const angle = (2 * Math.PI * frequency * index) / 8000;
    sine += (samples[index] as number) * Math.sin(angle);
    cosine += (samples[index] as number) * Math.cos(angle);
  }
  return samples.length === 0 ? 0 : (2 * Math.hypot(sine, cosine)) / samples.length;
}

/** RTP violations of a stream: gaps in sequence, irregular timestamps, more than one SSRC. */
export function streamFaults(packets: readonly HeardPacket[]): string[] {
  const faults: string[] = [];
  for (let index = 1; index < packets.length; index += 1) {
    const before = packets[index - 1] as HeardPacket;
    const packet = packets[index] as HeardPacket;
    if (packet.ssrc !== before.ssrc) faults.push(`packet ${index}: SSRC changed`);
    const step = (packet.sequence - before.sequence) & 0xffff;
    if (step !== 1) faults.push(`packet ${index}: sequence step ${step}`);
    const elapsed = (packet.timestamp - before.timestamp) >>> 0;
    if (elapsed !== 160 && !packet.marker) faults.push(`packet ${index}: timestamp step ${elapsed}`);
  }
  return faults;
}

/** Resolves when the condition holds, with polling; rejects after the given time. */
export async function until(condition: () => boolean, milliseconds = 3000, what = 'condition'): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not hold within ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
