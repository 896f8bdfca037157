/** TCP and TLS sockets as the carriers of connections. */
import type { Socket } from 'node:net';
import { type Carrier, type Connection, reasonOf } from './connection.ts';
import type { ParseLimits } from './parse-message.ts';
import { handshakeProblem } from './secure-client.ts';
import { StreamFramer } from './stream-framer.ts';
import { formatHostPort } from './uri.ts';

export function socketCarrier(socket: Socket): Carrier {
  return {
    get queued() {
      return socket.writableLength;
    },
    get closed() {
      return socket.destroyed;
    },
    get localAddress() {
      return socket.localAddress === undefined ? undefined : bare(socket.localAddress);
    },
    write: (data) => void socket.write(data),
    end: () => {
      socket.end();
      socket.destroySoon();
    },
    destroy: () => void socket.destroy(),
  };
}

/**
 * Passes on what a socket receives and how it ends.
 * @param problem why a handshake failed, in words
 */
export function attach(
  socket: Socket,
  connection: Connection,
  limits: ParseLimits,
  problem: (error: NodeJS.ErrnoException) => string | undefined = () => undefined,
): StreamFramer {
  const framer = new StreamFramer(
    {
      message: (message) => connection.message(message),
      ping: () => connection.ping(),
      pong: () => connection.pong(),
    },
    limits,
  );
  socket.on('data', (chunk: Buffer) => connection.receive(chunk, framer));
  socket.on('end', () => socket.end());
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const insecure = problem(error);
    if (insecure === undefined) connection.broken(reasonOf(error), error.code ?? error.message);
    else connection.broken('insecure', insecure);
  });
  socket.on('close', () => connection.ended());
  return framer;
}

/** Follows a socket that this side opens: a limit for the connection and its handshake, then keep-alives. */
export function dial(
  socket: Socket,
  connection: Connection,
  { limits, secure, timeout }: { limits: ParseLimits; secure: boolean; timeout: number },
): void {
  let stage: 'connecting' | 'handshake' | 'open' = 'connecting';
  const problem = (error: NodeJS.ErrnoException): string | undefined =>
    secure && stage !== 'open' ? handshakeProblem(error) : undefined;
  const framer = attach(socket, connection, limits, problem);
  socket.setTimeout(timeout, () => {
    if (stage === 'handshake') connection.fail('insecure', 'it did not finish the TLS handshake');
    else connection.fail('unreachable', 'no answer');
  });
  const opened = (): void => {
    stage = 'open';
    socket.setTimeout(0);
    connection.keepAlive(() => (framer.expectsPong = true));
  };
  if (secure) socket.once('connect', () => (stage = 'handshake'));
  socket.once(secure ? 'secureConnect' : 'connect', opened);
}

/** `ip:port` of the peer; undefined when the socket is closed. */
export function remoteKey({ remoteAddress, remotePort }: Socket): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return formatHostPort(bare(remoteAddress), remotePort);
}

/** Without the prefix of an IPv4 address in an IPv6 socket. */
export function bare(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
