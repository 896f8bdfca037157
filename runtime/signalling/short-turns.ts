/** How much of a connection to a SIP server is read and written in one turn of the event loop. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** Private part of drachtio-srf: its connections. */
interface Client {
  readonly wp: EventEmitter & { send(socket: Socket, text: string): string };
}

/**
 * Reads one piece of at most 64 KB in each turn of the event loop. Otherwise Node reads up to two megabytes in a row, and all else waits
 * meanwhile: after a burst, calls that have their endpoints wait behind new ones at each of their steps.
 * @param srf an application object that has begun to connect
 */
export function readInTurns(srf: object): void {
  connectionsOf(srf).on('connect', (socket: Socket) => {
    socket.on('data', () => {
      socket.pause();
      setImmediate(() => socket.resume());
    });
  });
}

/** Messages that wait at most: the server works on these while the node goes on with a long turn. */
const MOST_WAITING = 8;

/**
 * Sends the messages of a turn together, up to eight: most cost less than to wake the thread that reads them.
 * @param srf an application object that has begun to connect
 */
export function writeInTurns(srf: object): void {
  const connections = connectionsOf(srf);
  const send = connections.send.bind(connections);
  const waiting = new WeakMap<Socket, number>();
  const release = (socket: Socket): void => {
    if (waiting.delete(socket)) socket.uncork();
  };
  connections.send = (socket, text) => {
    const before = waiting.get(socket) ?? 0;
    if (before === 0) {
      socket.cork();
      setImmediate(() => release(socket));
    }
    waiting.set(socket, before + 1);
    const id = send(socket, text);
    if (before + 1 === MOST_WAITING) release(socket);
    return id;
  };
}

function connectionsOf(srf: object): Client['wp'] {
  return (srf as { readonly app: { readonly client: Client } }).app.client.wp;
}
