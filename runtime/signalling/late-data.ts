import type { Socket } from 'node:net';
import type { Srf } from './srf-types.ts';

/** Of drachtio-srf: the sockets to servers that it is connected to. */
interface Connections {
  readonly _app: { readonly client?: { readonly mapServer: ReadonlyMap<Socket, unknown> } };
}

/**
 * Has nobody told of what still comes on the connection, before it is closed. When it disconnects, drachtio-srf forgets where
 * in a message it was, takes what follows for the beginning of another one, and throws.
 */
export function ignoreLateData(srf: Srf): void {
  // oxlint-disable-next-line no-underscore-dangle -- there is no public way to its sockets
  for (const socket of (srf as unknown as Connections)._app.client?.mapServer.keys() ?? []) {
    socket.removeAllListeners('data');
    // Read on: the end of the connection comes after it.
    socket.resume();
  }
}
