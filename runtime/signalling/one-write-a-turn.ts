/** Sends the messages of one turn of the event loop to the SIP server at once. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Srf } from './srf-types.ts';

/** The private part of drachtio-srf that makes connections; it lives as long as the application object. */
interface Client {
  readonly wp: EventEmitter;
}

/**
 * Writes to the SIP server once a turn. drachtio-srf writes each message by itself, and a call sends up to four in one turn: each
 * write is a system call, and wakes the SIP server.
 */
export function writeOncePerTurn(srf: Srf): void {
  // oxlint-disable-next-line no-underscore-dangle -- drachtio-srf does not show its connections
  const { client } = (srf as unknown as { readonly _app: { readonly client?: Client } })._app;
  client?.wp.prependListener('connect', gather);
}

/** Milliseconds after which a message takes the earlier ones of its turn along: turns are long when the node is busy. */
const MOST_MS = 2;

function gather(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: Parameters<Socket['write']>) => boolean;
  let corked = false;
  let since = 0;
  const send = (): void => {
    if (corked) socket.uncork();
    corked = false;
  };
  socket.write = ((...args: Parameters<Socket['write']>) => {
    const now = performance.now();
    if (!corked) {
      corked = true;
      since = now;
      socket.cork();
      setImmediate(send);
    }
    const isBelowMark = write(...args);
    if (now - since > MOST_MS) send();
    return isBelowMark;
  }) as Socket['write'];
}
