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

/**
 * Sends all messages of a turn together: most cost less than to wake the thread that reads them.
 * @param srf an application object that has begun to connect
 */
export function writeOnceATurn(srf: object): void {
  const connections = connectionsOf(srf);
  const send = connections.send.bind(connections);
  const held = new WeakSet<Socket>();
  connections.send = (socket, text) => {
    if (!held.has(socket)) {
      held.add(socket);
      socket.cork();
      setImmediate(() => {
        held.delete(socket);
        socket.uncork();
      });
    }
    return send(socket, text);
  };
}

function connectionsOf(srf: object): Client['wp'] {
  return (srf as { readonly app: { readonly client: Client } }).app.client.wp;
}
