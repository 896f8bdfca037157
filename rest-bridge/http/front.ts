/** The HTTP server with strict framing of connections. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FramedSocket, type FramedSocketOptions } from './framed-socket.ts';
import { Refusal } from './refusal.ts';

export interface FrontOptions extends FramedSocketOptions {
  /** Milliseconds for which a connection may be silent before its first request. Default 60 000. */
  readonly silentTimeoutMs?: number;
  /** Milliseconds for which a connection may be idle between two requests. Default 72 000. */
  readonly keepAliveTimeoutMs?: number;
  /**
   * Connections without a request yet. Beyond, the oldest is closed, so that a flood of silent ones costs little and keeps no
   * client out. Default 1024.
   */
  readonly mostSilent?: number;
  /** Key and certificate: speak HTTPS. */
  readonly tls?: TlsOptions;
}

/**
 * Makes an HTTP server with strict framing of connections. Node's parser can then read the custom methods of the
 * specification, and only messages with unambiguous borders reach a handler.
 *
 * The server needs a `clientError` listener that calls {@link refuseClient}.
 */
export function createFrontedServer(handler: RequestListener, options: FrontOptions): Server {
  const { silentTimeoutMs = 60_000, keepAliveTimeoutMs = 72_000 } = options;
  const settings = {
    // No limit here: `FramedSocket` limits the pace of bodies, not their duration.
    requestTimeout: 0,
    headersTimeout: silentTimeoutMs,
    connectionsCheckingInterval: Math.min(30_000, silentTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // `Upgrade: h2c`, which some clients offer on plain HTTP, is never an upgrade.
    shouldUpgradeCallback: (request: IncomingMessage): boolean => mayUpgrade(server, request),
  };
  const server: Server = options.tls
    ? createTlsServer({ ...options.tls, ...settings }, handler)
    : createServer(settings, handler);
  attach(server, options.tls ? 'secureConnection' : 'connection', options);
  return server;
}

/** Refuses a request that Node could not read, for the `clientError` event: answers like the front, and closes. */
export function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!(socket instanceof FramedSocket) || socket.destroyed || !socket.writable || error.syscall !== undefined) {
    socket.destroy();
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.refuse(new Refusal('timeout', 'the request did not arrive in time'));
  } else {
    socket.refuse(new Refusal('malformed', `the request cannot be read (${error.code ?? error.message})`));
  }
}

/**
 * Tells the front that the sender of a request is authenticated: the limit `BodyLimits.strangerMs` no longer applies to
 * its body, only the minimum pace.
 */
export function senderKnown(request: IncomingMessage): void {
  // A request within a WebSocket has no connection of its own.
  if (request.socket instanceof FramedSocket) request.socket.senderKnown(request);
}

function mayUpgrade(server: Server, request: IncomingMessage): boolean {
  // The front itself has one listener, so a second one belongs to a WebSocket server.
  return request.socket instanceof FramedSocket && request.socket.mayUpgrade && server.listenerCount('upgrade') > 1;
}

/** Puts a `FramedSocket` between each connection and Node's listener, to which Node allows any Duplex to be passed. */
function attach(server: Server, event: 'connection' | 'secureConnection', options: FrontOptions): void {
  const { mostSilent = 1024 } = options;
  const listeners = server.listeners(event);
  const [native] = listeners;
  if (!native || listeners.length !== 1) {
    throw new Error(`Node has ${listeners.length} listeners of "${event}" on a fresh server; the front expects one`);
  }
  server.removeAllListeners(event);
  const sockets = new Set<FramedSocket>();
  /** Those without a request yet, the oldest first. */
  const silent = new Set<FramedSocket>();
  server.on(event, (raw: Socket) => {
    const socket = new FramedSocket(raw, options);
    sockets.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      silent.delete(socket);
    });
    const [oldest] = silent;
    if (silent.size > mostSilent) oldest?.destroy();
    native.call(server, socket);
  });
  // Called by `close()`. Node's own version treats a silent new connection as busy and would wait for it.
  server.closeIdleConnections = () => {
    for (const socket of sockets) if (socket.idle) socket.destroy();
  };
  // The first listener: an answer must be counted before a handler can finish it.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isFramed(request.socket)) return;
    silent.delete(request.socket);
    request.socket.requestArrived(response);
  });
  server.prependListener('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    if (!isFramed(socket)) return;
    silent.delete(socket);
    socket.upgraded();
  });
}

function isFramed(socket: Duplex): socket is FramedSocket {
  return socket instanceof FramedSocket;
}
