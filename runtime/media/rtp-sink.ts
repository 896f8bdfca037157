/** Receives RTP audio. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decodeG711, type G711 } from './g711.ts';

/** Supported RTP payload types (RFC 3551 section 6). */
const LAWS: Readonly<Record<number, G711>> = { 0: 'PCMU', 8: 'PCMA' };
const RTP_HEADER = 12;
/** A longer gap is a pause of the sender, not loss. Packets of 20 ms. */
const MOST_LOST = 25;

/** A receive-only RTP socket: yields 8 kHz samples, with silence for lost packets. */
export class RtpSink {
  readonly port: number;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #onSamples: (samples: Int16Array) => void;
  #ssrc: number | undefined;
  #next = 0;
  #closed = false;

  private constructor(socket: Socket, address: string, onSamples: (samples: Int16Array) => void) {
    this.#socket = socket;
    this.#address = address;
    this.port = socket.address().port;
    this.#onSamples = onSamples;
    socket.on('message', (packet) => this.#receive(packet));
    // A failed socket receives nothing more; the call that it taps is unaffected.
    socket.on('error', () => this.close());
  }

  /** @throws the system's error when the address does not belong to this machine */
  static async open(address: string, onSamples: (samples: Int16Array) => void): Promise<RtpSink> {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new RtpSink(socket, address, onSamples);
  }

  /** Session description for a far end that sends to this socket (RFC 4566). */
  get sdp(): string {
    const id = Date.now();
    return [
      'v=0',
      `o=- ${id} ${id} IN IP4 ${this.#address}`,
      's=-',
      `c=IN IP4 ${this.#address}`,
      't=0 0',
      `m=audio ${this.port} RTP/AVP 0 8`,
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=ptime:20',
      '',
    ].join('\r\n');
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
  }

  /** Parses a packet of RFC 3550 section 5.1; others are dropped. */
  #receive(packet: Buffer): void {
    if (packet.length <= RTP_HEADER || packet.readUInt8(0) >> 6 !== 2) return;
    const law = LAWS[packet.readUInt8(1) & 0x7f];
    if (law === undefined) return;
    const ssrc = packet.readUInt32BE(8);
    // The first sender is the invited one; a change of source is marked (section 5.1, "M").
    if (this.#ssrc !== undefined && ssrc !== this.#ssrc && packet.readUInt8(1) >> 7 === 0) return;
    const sequence = packet.readUInt16BE(2);
    const payload = packet.subarray(headerLength(packet));
    if (payload.length === 0) return;
    const lost = this.#ssrc === ssrc ? (sequence - this.#next) & 0xffff : 0;
    // Late or duplicate: its place has been filled.
    if (lost >= 0x8000) return;
    this.#ssrc = ssrc;
    this.#next = (sequence + 1) & 0xffff;
    if (lost > 0 && lost <= MOST_LOST) this.#onSamples(new Int16Array(lost * payload.length));
    this.#onSamples(decodeG711(payload, law));
  }
}

function headerLength(packet: Buffer): number {
  const first = packet.readUInt8(0);
  const sources = RTP_HEADER + (first & 0x0f) * 4;
  if ((first & 0x10) === 0 || packet.length < sources + 4) return sources;
  return sources + 4 + packet.readUInt16BE(sources + 2) * 4;
}
