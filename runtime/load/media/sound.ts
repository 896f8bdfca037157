/** The sound of one side of a call: RTP (RFC 3550) both ways. */
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:dgram';
import type { Ear } from './ear.ts';
import type { PacketClock, Paced } from './packet-clock.ts';
import { Reception } from './reception.ts';
import type { SoundSockets } from './sockets.ts';
import { FRAME, tonePayload } from './tones.ts';

const HEADER = 12;

/** Where sound goes, and in which codec. */
export interface FarEnd {
  readonly address: string;
  readonly port: number;
  readonly payloadType: number;
}

/** What all calls share. */
export interface SoundTools {
  readonly sockets: SoundSockets;
  readonly clock: PacketClock;
}

/** Sends a tone and listens, from `connect` to `close`. */
export class Sound implements Paced {
  readonly received = new Reception();
  readonly #tools: SoundTools;
  readonly #socket: Socket;
  readonly #packet = Buffer.alloc(HEADER + FRAME);
  #ear: Ear | undefined;
  #far: FarEnd | undefined;
  #sequence = randomInt(0x8000);
  #timestamp = randomInt(2 ** 31);
  #closed = false;

  private constructor(tools: SoundTools, socket: Socket) {
    this.#tools = tools;
    this.#socket = socket;
    this.#packet.writeUInt8(0x80, 0);
    this.#packet.writeUInt32BE(randomInt(2 ** 32), 8);
    socket.on('message', (data, from) => {
      if (from.port === this.#far?.port && from.address === this.#far.address) this.#receive(data);
    });
  }

  static async open(tools: SoundTools): Promise<Sound> {
    return new Sound(tools, await tools.sockets.take());
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** The far end from now on. @param ear listens; absent: packets are only counted */
  connect(far: FarEnd, ear?: Ear): void {
    if (this.#closed) return;
    const isFirst = this.#far === undefined;
    this.#far = far;
    this.#ear = ear ?? this.#ear;
    if (!isFirst) return;
    // The marker bit of the first packet.
    this.#packet.writeUInt8(0x80 | far.payloadType, 1);
    this.#tools.clock.add(this);
  }

  /** Sends this tone from now on. @param frequency Hz, of the load's tones */
  play(frequency: number): void {
    if (this.#far !== undefined) tonePayload(frequency, this.#far.payloadType).copy(this.#packet, HEADER);
  }

  /** @internal */
  tick(): void {
    const far = this.#far;
    if (far === undefined) return;
    this.#packet.writeUInt16BE(this.#sequence, 2);
    this.#packet.writeUInt32BE(this.#timestamp, 4);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + FRAME) >>> 0;
    this.#socket.send(this.#packet, far.port, far.address);
    this.#packet.writeUInt8(far.payloadType, 1);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#tools.clock.remove(this);
    this.#tools.sockets.give(this.#socket);
  }

  #receive(data: Buffer): void {
    // RTP version 2; RTCP has packet types 192 to 223 (RFC 5761 section 4).
    if (data.length < HEADER || data.readUInt8(0) >> 6 !== 2 || (data.readUInt8(1) & 0xe0) === 0xc0) return;
    const now = performance.now();
    this.received.receive(data, now);
    if (this.#ear === undefined) return;
    const first = data.readUInt8(0);
    const start = HEADER + (first & 0x0f) * 4;
    // Extensions and padding do not occur in G.711 from a media server; their packets are only counted.
    if ((first & 0x30) === 0) this.#ear.hear(data.subarray(start), data.readUInt8(1) & 0x7f, now);
  }
}
