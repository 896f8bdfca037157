import type { Socket } from 'node:net';
import type { Srf } from './srf-types.ts';

/** Of drachtio-srf: the connections to servers, and the timer of the next attempt. */
interface Client {
  readonly mapServer: ReadonlyMap<Socket, unknown>;
  readonly wp: { closing?: boolean; readonly reconnectVars: { retryTimer: NodeJS.Timeout | null } };
}

/**
 * Closes the connection to a SIP server, or the attempts at one. drachtio-srf's own `disconnect` throws where there is no
 * connection at the moment. When there is one, it forgets where in a message it was, takes what still comes for the beginning of
 * another one, and throws: so what still comes is dropped.
 */
export function closeConnection(srf: Srf): void {
  // oxlint-disable-next-line no-underscore-dangle -- there is no public way to its sockets
  const { client } = (srf as unknown as { readonly _app: { readonly client?: Client } })._app;
  if (client === undefined) return;
  const { wp } = client;
  wp.closing = true;
  clearTimeout(wp.reconnectVars.retryTimer ?? undefined);
  for (const socket of client.mapServer.keys()) {
    socket.removeAllListeners('data');
    // Read on: the end of the connection comes after it.
    socket.resume();
    socket.end();
  }
}
