import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HOST = '127.0.0.1';
const FRAME_MS = 20;
const HEADER_BYTES = 12;
const PAYLOAD_BYTES = 160;
/** Payload, which G.711 to G.711 passes on unchanged: time of sending, then the packet's number. */
const STAMP = HEADER_BYTES;
const NUMBER = STAMP + 8;
const LATE_MS = 10;
const STANDSTILL_MS = 4;
/** Milliseconds for packets to arrive after the last one was sent. */
const DRAIN_MS = 500;

/** The RTP socket of one side: sends to the far end, and receives from it. */
export interface SoundSocket {
  readonly socket: Socket;
  readonly port: number;
}

/** Binds an even port (RFC 3550 section 11) on 127.0.0.1. */
export async function openSound(): Promise<SoundSocket> {
  for (;;) {
    const socket = createSocket('udp4');
    socket.bind(0, HOST);
    await once(socket, 'listening');
    const { port } = socket.address();
    if (port % 2 === 0) return { socket, port };
    socket.close();
  }
}

/** Sets the far end; a connected socket saves a look-up for each packet. */
export async function connectSound({ socket }: SoundSocket, port: number): Promise<void> {
  const connected = once(socket, 'connect');
  socket.connect(port, HOST);
  await connected;
}

export interface Forwarding {
  readonly sent: number;
  readonly received: number;
  /** Received more than 10 ms after they were sent. */
  readonly late: number;
  /** Of these, packets delayed by this process itself: it had no processor for most of their delay. */
  readonly lateHere: number;
  /** Milliseconds from sending to receiving. */
  readonly delays: readonly number[];
}

/**
 * Sends a G.711 packet every 20 ms on every socket, evenly spread like independent phones, and measures when each
 * arrives at another socket. Packets of the warm-up are sent, but not counted.
 */
export async function forward(
  sockets: readonly SoundSocket[],
  warmUpMs: number,
  measuredMs: number,
): Promise<Forwarding> {
  const delays: number[] = [];
  let counting = false;
  let sent = 0;
  let late = 0;
  let lateHere = 0;
  const standstill = new Standstill();
  const streams = sockets.map(({ socket }, index) => new Stream(socket, index));
  const receive = (packet: Buffer) => {
    if (packet.length !== HEADER_BYTES + PAYLOAD_BYTES || packet.readUInt32BE(NUMBER) === 0) return;
    const now = standstill.seen();
    const delay = now - packet.readDoubleBE(STAMP);
    delays.push(delay);
    if (delay <= LATE_MS) return;
    late += 1;
    if (standstill.since(now - delay) > delay / 2) lateHere += 1;
  };
  for (const { socket } of sockets) socket.on('message', receive);

  const began = performance.now();
  const done = Promise.withResolvers<void>();
  let slot = 0;
  const run = () => {
    const now = standstill.seen() - began;
    if (now >= warmUpMs + measuredMs) {
      setTimeout(done.resolve, DRAIN_MS);
      return;
    }
    counting = now >= warmUpMs;
    for (const due = (now * streams.length) / FRAME_MS; slot <= due; slot += 1) {
      streams[slot % streams.length]?.send(counting);
      if (counting) sent += 1;
    }
    setTimeout(run, 1);
  };
  run();
  await done.promise;
  for (const { socket } of sockets) socket.removeListener('message', receive);
  return { sent, received: delays.length, late, lateHere, delays };
}

/** Detects delays of this process by late timers of 1 ms. */
class Standstill {
  #seen = performance.now();
  #from = 0;
  #to = 0;

  /** Call whenever the process runs. Returns the time. */
  seen(): number {
    const now = performance.now();
    if (now - this.#seen > STANDSTILL_MS) {
      this.#from = this.#seen;
      this.#to = now;
    }
    this.#seen = now;
    return now;
  }

  /** Milliseconds of the last delay after `time`. */
  since(time: number): number {
    return this.#to - Math.max(this.#from, time);
  }
}

/** One RTP stream (RFC 3550 section 5.1) whose payload contains the time of sending. */
class Stream {
  readonly #socket: Socket;
  readonly #ssrc: number;
  #sequence = 0;
  #counted = 0;

  constructor(socket: Socket, index: number) {
    this.#socket = socket;
    this.#ssrc = 0x10000 + index;
  }

  /** @param counted false for a packet of the warm-up, which has no number */
  send(counted: boolean): void {
    // A separate buffer for each packet, as sending ends later.
    const packet = Buffer.alloc(HEADER_BYTES + PAYLOAD_BYTES, 0xff);
    packet.writeUInt8(0x80, 0);
    packet.writeUInt8(this.#sequence === 0 ? 0x80 : 0, 1);
    packet.writeUInt16BE(this.#sequence & 0xffff, 2);
    packet.writeUInt32BE((this.#sequence * PAYLOAD_BYTES) >>> 0, 4);
    packet.writeUInt32BE(this.#ssrc, 8);
    this.#sequence += 1;
    if (counted) this.#counted += 1;
    packet.writeUInt32BE(counted ? this.#counted : 0, NUMBER);
    packet.writeDoubleBE(performance.now(), STAMP);
    this.#socket.send(packet);
  }
}
