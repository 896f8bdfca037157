/** Bounds what is read from a SIP server at once. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** Private part of drachtio-srf: its connections. */
interface Client {
  readonly wp: EventEmitter;
}

/**
 * Reads one piece of at most 64 KB in each turn of the event loop. Otherwise Node reads up to two megabytes in a row, and all else waits
 * meanwhile: after a burst, calls that have their endpoints wait behind new ones at each of their steps.
 * @param srf an application object that has begun to connect
 */
export function readInTurns(srf: object): void {
  const { client } = (srf as { readonly app: { readonly client: Client } }).app;
  client.wp.on('connect', (socket: Socket) => {
    socket.on('data', () => {
      socket.pause();
      setImmediate(() => socket.resume());
    });
  });
}
