/**
 * Currently unused ports on 127.0.0.1, each given once in a test run: each lane (lanes.mjs) has a part of its own, and
 * cycles through it.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports (32768 and up on Linux), which outgoing connections may take at any time. */
const FIRST = 10_000;
const END = 32_700;

/** The first and the last port that tests use. */
export const TEST_PORTS = [FIRST, END - 1] as const;

const [lane = 1, lanes = 1] = (process.env['RINGMASTER_TEST_LANE'] ?? '1/1').split('/').map(Number);
const width = Math.floor((END - FIRST) / lanes);
const laneStart = FIRST + (lane - 1) * width;

/** Ports that are given one after the other, from the first again after the last. */
class Cycle {
  readonly first: number;
  readonly end: number;
  #next: number;

  constructor(first: number, end: number) {
    this.first = first + (first % 2);
    this.end = end;
    // A random start, since several test runs may share a machine.
    this.#next = this.first + 2 * randomInt(Math.floor((end - first) / 2));
  }

  /** The next `size` ports, starting with an even one for RTP. */
  take(size: number): number {
    if (this.#next + size > this.end) this.#next = this.first;
    const from = this.#next;
    this.#next += size + (size % 2);
    return from;
  }

  skip(ports: number): void {
    this.#next += 2 * ports;
  }
}

/**
 * Single ports have a part of their own. The ranges of media servers would use up a common one in a few tests, and a new
 * phone would get the port of one that has just stopped, with the retransmissions to that one.
 */
const singlePorts = new Cycle(laneStart, laneStart + Math.floor(width / 5));
const ranges = new Cycle(singlePorts.end, laneStart + width);

async function tcpFree(port: number): Promise<boolean> {
  const server = createServer();
  const opened = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, '127.0.0.1');
  if (!(await opened)) return false;
  const closed = once(server, 'close');
  server.close();
  await closed;
  return true;
}

async function udpFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const opened = once(socket, 'listening').then(
    () => true,
    () => false,
  );
  socket.bind(port, '127.0.0.1');
  const free = await opened;
  socket.close();
  return free;
}

async function find(size: number, free: (from: number) => Promise<boolean>): Promise<number> {
  const cycle = size === 1 ? singlePorts : ranges;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const from = cycle.take(size);
    if (await free(from)) return from;
    // Another program may use hundreds of successive ports.
    cycle.skip(8 * attempt);
  }
  throw new Error(`no free ports, ${size} in a row, from ${cycle.first} to ${cycle.end - 1}`);
}

/** A free TCP port. */
export function freeTcpPort(): Promise<number> {
  return find(1, tcpFree);
}

/** A free UDP port. */
export function freeUdpPort(): Promise<number> {
  return find(1, udpFree);
}

/** A port free for both UDP and TCP, for a SIP server. */
export function freeSipPort(): Promise<number> {
  return find(1, async (port) => (await tcpFree(port)) && udpFree(port));
}

/** A range of `size` UDP ports that starts with an even one, with free ends; e.g. `17000-17499`. */
export async function freeUdpRange(size: number): Promise<{ from: number; to: number }> {
  const from = await find(size, async (port) => (await udpFree(port)) && udpFree(port + size - 1));
  return { from, to: from + size - 1 };
}
