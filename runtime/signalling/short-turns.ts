/** How much of a connection to a SIP server is read and written in one turn of the event loop. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { corkedTurn, type Turn } from '../turns/index.ts';

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
 * Sends the messages of a turn together.
 * @param srf an application object that has begun to connect
 */
export function writeInTurns(srf: object): void {
  const connections = connectionsOf(srf);
  const send = connections.send.bind(connections);
  const turns = new WeakMap<Socket, Turn>();
  connections.send = (socket, text) => {
    let turn = turns.get(socket);
    if (!turn) {
      turn = corkedTurn(socket);
      turns.set(socket, turn);
    }
    return turn.add(() => send(socket, text));
  };
}

function connectionsOf(srf: object): Client['wp'] {
  return (srf as { readonly app: { readonly client: Client } }).app.client.wp;
}
