import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/** Ports on 127.0.0.1 that nobody uses at the moment of asking. */

async function tcpPort(wanted: number): Promise<number | undefined> {
  const server = createServer();
  const opened = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(wanted, '127.0.0.1');
  if (!(await opened)) return undefined;
  const bound = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  return bound === null || typeof bound === 'string' ? undefined : bound.port;
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

/** A port free for TCP. */
export async function freeTcpPort(): Promise<number> {
  const port = await tcpPort(0);
  if (port === undefined) throw new Error('no free TCP port');
  return port;
}

/** A port free for both UDP and TCP, as a SIP server needs it. */
export async function freeSipPort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = await freeTcpPort();
    if (await udpFree(port)) return port;
  }
  throw new Error('no port free for both UDP and TCP');
}

/** A range of `size` UDP ports below the ephemeral ones, its ends free; e.g. `17000-17499`. */
export async function freeUdpRange(size: number): Promise<{ from: number; to: number }> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const from = randomInt(6000, 15_500) * 2;
    const ends = await Promise.all([udpFree(from), udpFree(from + size - 1)]);
    if (ends.every(Boolean)) return { from, to: from + size - 1 };
  }
  throw new Error(`no free range of ${size} UDP ports`);
}
