/** Closes connections to SIP servers. */
import type { Socket } from 'node:net';
import type { Srf } from './srf-types.ts';

/** Private parts of drachtio-srf: connections to servers, and the reconnection timer. */
interface Client {
  readonly mapServer: ReadonlyMap<Socket, unknown>;
  readonly wp: { closing?: boolean; readonly reconnectVars: { retryTimer: NodeJS.Timeout | null } };
}

/**
 * Closes the connection to a SIP server, or stops reconnecting. drachtio-srf's own `disconnect` throws without a
 * connection. With one, it loses its position in the data, parses the rest as a new message, and throws: so remaining
 * data is dropped.
 */
export function closeConnection(srf: Srf): void {
  // oxlint-disable-next-line no-underscore-dangle -- its sockets are not public
  const { client } = (srf as unknown as { readonly _app: { readonly client?: Client } })._app;
  if (client === undefined) return;
  const { wp } = client;
  wp.closing = true;
  clearTimeout(wp.reconnectVars.retryTimer ?? undefined);
  for (const socket of client.mapServer.keys()) {
    socket.removeAllListeners('data');
    // Keep reading: the close event follows the remaining data.
    socket.resume();
    socket.end();
  }
}
