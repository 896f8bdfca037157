/** SIP over one TLS connection or WebSocket to a server, as phones behind NAT and browsers use it (RFC 5626, RFC 7118). */
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { type Peer, StreamFramer, type Transport, type TransportEvents } from './transport.ts';

/** The connection of such a phone. */
export interface ConnectedOptions {
  /** `127.0.0.1:5061`, or the URL of a WebSocket. */
  readonly server: string;
  /** The server's certificate or its authority, PEM; `any`: it is not checked. */
  readonly ca?: string | undefined;
}

/** Opens the connection. Whatever is sent goes through it. */
export async function openConnected(
  protocol: 'tls' | 'ws' | 'wss',
  events: TransportEvents,
  options: ConnectedOptions,
): Promise<Transport> {
  return protocol === 'tls' ? openTls(events, options) : openWebSocket(protocol, events, options);
}

function trust(ca: string | undefined): { ca?: string; rejectUnauthorized?: boolean } {
  if (ca === 'any') return { rejectUnauthorized: false };
  return ca === undefined ? {} : { ca };
}

async function openTls(events: TransportEvents, { server, ca }: ConnectedOptions): Promise<Transport> {
  const [host = '', port = ''] = server.split(':');
  const socket = connectTls({ host, port: Number(port), ...trust(ca) });
  const peer: Peer = {
    protocol: 'tls',
    address: host,
    port: Number(port),
    send: (data) => void (socket.destroyed || socket.write(data)),
  };
  const framer = new StreamFramer();
  socket.on('data', (chunk: Buffer) => {
    const { messages, error } = framer.push(chunk);
    for (const message of messages) events.message(message, peer);
    if (error !== undefined) {
      events.broken(error);
      socket.destroy();
    }
  });
  await once(socket, 'secureConnect');
  socket.on('error', () => socket.destroy());
  return {
    protocol: 'tls',
    port: socket.localPort ?? 0,
    peer: () => peer,
    ping: async () => {
      const answered = once(socket, 'data');
      socket.write('\r\n\r\n');
      return String((await answered)[0]);
    },
    close: async () => {
      if (socket.destroyed) return;
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    },
  };
}

async function openWebSocket(
  protocol: 'ws' | 'wss',
  events: TransportEvents,
  { server, ca }: ConnectedOptions,
): Promise<Transport> {
  const webSocket = new WebSocket(server, 'sip', trust(ca));
  const { hostname, port } = new URL(server);
  const peer: Peer = {
    protocol,
    address: hostname,
    port: Number(port),
    send: (data) => {
      if (webSocket.readyState === WebSocket.OPEN) webSocket.send(data.toString());
    },
  };
  webSocket.on('message', (data: Buffer) => {
    if (data.length > 4) events.message(data, peer);
  });
  await once(webSocket, 'open');
  webSocket.on('error', () => webSocket.terminate());
  return {
    protocol,
    port: 0,
    // A browser does not know its address (RFC 7118 section 5).
    host: `${randomBytes(6).toString('hex')}.invalid`,
    peer: () => peer,
    ping: async () => {
      const answered = once(webSocket, 'message');
      webSocket.send('\r\n\r\n');
      return String((await answered)[0]);
    },
    close: async () => {
      if (webSocket.readyState === WebSocket.CLOSED) return;
      const closed = once(webSocket, 'close');
      webSocket.terminate();
      await closed;
    },
  };
}
