import { setTimeout as delay } from 'node:timers/promises';
import type { SoundSocket } from '../rtp/streams.ts';

const LATE_MS = 10;
const FRAME_MS = 20;

/** A packet is late by the excess of its transit time over the shortest of its stream (RFC 3550 section 6.4.1). */
class Arrivals {
  #shortest = Number.POSITIVE_INFINITY;
  #first: number | undefined;
  #last = 0;
  received = 0;
  readonly lateness: number[] = [];

  take(packet: Buffer): void {
    if (packet.length < 12) return;
    const sequence = packet.readUInt16BE(2);
    const way = performance.now() - packet.readUInt32BE(4) / 8;
    this.#shortest = Math.min(this.#shortest, way);
    const late = way - this.#shortest;
    if (late > LATE_MS) this.lateness.push(late);
    this.#first ??= sequence;
    this.#last = sequence;
    this.received += 1;
  }

  /** Sent packets, as far as the sequence numbers show. */
  get sent(): number {
    return this.#first === undefined ? 0 : ((this.#last - this.#first) & 0xffff) + 1;
  }
}

/** Packets of all streams. */
export interface Heard {
  readonly sent: number;
  readonly received: number;
  /** Milliseconds of delay of each packet more than 10 ms late. */
  readonly lateness: readonly number[];
}

/** Receives on all sockets for a while, and counts sent, received and late packets. */
export async function receive(sockets: readonly SoundSocket[], milliseconds: number): Promise<Heard> {
  const streams = sockets.map(({ socket }) => {
    const arrivals = new Arrivals();
    const take = (packet: Buffer): void => arrivals.take(packet);
    socket.on('message', take);
    return { arrivals, stop: () => socket.off('message', take) };
  });
  await delay(milliseconds);
  for (const { stop } of streams) stop();
  const expected = milliseconds / FRAME_MS;
  const all = streams.map(({ arrivals }) => arrivals);
  return {
    // A stream without any received packet has lost all of them.
    sent: all.reduce((sum, { sent }) => sum + (sent === 0 ? expected : sent), 0),
    received: all.reduce((sum, { received }) => sum + received, 0),
    lateness: all.flatMap(({ lateness }) => lateness),
  };
}
