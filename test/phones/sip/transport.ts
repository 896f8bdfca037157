/** SIP over UDP and TCP as a phone uses it (RFC 3261 section 18). It handles bytes only. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { freeUdpPort } from '../../support/ports.ts';

export type Protocol = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

/** The source or destination of a message. */
export interface Peer {
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
  send(data: Buffer): void;
}

/** The number of arriving copies of the n-th datagram (from 1) of a direction, over an imperfect network. */
export type Impairment = (direction: 'sent' | 'received', number: number) => 0 | 1 | 2;

export interface TransportEvents {
  message(data: Buffer, from: Peer): void;
  /** Received data is not SIP. */
  broken(what: string): void;
}

export interface Transport {
  readonly protocol: Protocol;
  /** The phone's own SIP port. */
  readonly port: number;
  /** Host of Via and Contact in place of address and port. */
  readonly host?: string;
  peer(address: string, port: number): Peer;
  /** Sends a keep-alive over the connection, and returns what comes back (RFC 5626 section 4.4.1). */
  ping?(): Promise<string>;
  /** Ends all connections; the port stays open. */
  cut?(): void;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Opens the phone's SIP port.
 * @param address its IP address, 127.0.0.1 by default
 * @param impair loses or doubles datagrams; UDP only
 * @param certificate for TLS; certificates of others are not checked
 */
export async function openTransport(
  protocol: 'udp' | 'tcp' | 'tls',
  events: TransportEvents,
  { impair = () => 1, port, address = HOST, certificate }: PortOptions = {},
): Promise<Transport> {
  if (protocol === 'udp') return openUdp(events, impair, address, port);
  return openStream(events, address, port, protocol === 'tls' ? certificate : undefined);
}

interface PortOptions {
  readonly impair?: Impairment;
  readonly port?: number;
  readonly address?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

async function openUdp(
  events: TransportEvents,
  impair: Impairment,
  host: string,
  own: number | undefined,
): Promise<Transport> {
  const socket: UdpSocket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const counts = { sent: 0, received: 0 };
  const copies = (direction: 'sent' | 'received'): number => impair(direction, (counts[direction] += 1));
  let open = true;
  const peer = (address: string, port: number): Peer => ({
    protocol: 'udp',
    address,
    port,
    send: (data) => {
      if (!open) return;
      for (let copy = copies('sent'); copy > 0; copy -= 1) socket.send(data, port, address);
    },
  });
  socket.on('message', (data, from) => {
    // A CRLF keep-alive (RFC 5626 section 4.4.1) or a NUL of a NAT pinhole is no message.
    if (data.length <= 4) return;
    for (let copy = copies('received'); copy > 0; copy -= 1) events.message(data, peer(from.address, from.port));
  });
  // A port unused by earlier phones: a leftover registration points at its old port.
  socket.bind(own ?? (await freeUdpPort()), host);
  await once(socket, 'listening');
  return {
    protocol: 'udp',
    port: socket.address().port,
    peer,
    close: async () => {
      open = false;
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** Divides a byte stream into messages by Content-Length (RFC 3261 section 18.3). */
export class StreamFramer {
  #pending: Buffer = Buffer.alloc(0);

  /** @returns complete messages, and the error of an undividable stream. */
  push(chunk: Buffer): { messages: Buffer[]; error?: string } {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const messages: Buffer[] = [];
    for (;;) {
      let start = 0;
      while (this.#pending[start] === 0x0d || this.#pending[start] === 0x0a) start += 1;
      this.#pending = this.#pending.subarray(start);
      const end = this.#pending.indexOf('\r\n\r\n');
      if (end < 0) return { messages };
      const head = this.#pending.subarray(0, end).toString('latin1');
      const length = /\r\n(?:Content-Length|l)[ \t]*:[ \t]*(\d+)/i.exec(head)?.[1];
      if (length === undefined) return { messages, error: 'a message on a stream has no Content-Length' };
      const size = end + 4 + Number(length);
      if (this.#pending.length < size) return { messages };
      messages.push(this.#pending.subarray(0, size));
      this.#pending = this.#pending.subarray(size);
    }
  }
}

async function openStream(
  events: TransportEvents,
  host: string,
  own = 0,
  certificate?: PortOptions['certificate'],
): Promise<Transport> {
  const protocol = certificate === undefined ? 'tcp' : 'tls';
  const connections = new Map<string, Socket>();
  const adopt = (socket: Socket, address: string, port: number): Peer => {
    const key = `${address}:${port}`;
    const framer = new StreamFramer();
    const peer: Peer = {
      protocol,
      address,
      port,
      send: (data) => {
        if (!socket.destroyed) socket.write(data);
      },
    };
    connections.set(key, socket);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      const { messages, error } = framer.push(chunk);
      for (const message of messages) events.message(message, peer);
      if (error !== undefined) {
        events.broken(error);
        socket.destroy();
      }
    });
    // A refused or reset connection shows as a transaction time-out, as for any phone.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (connections.get(key) === socket) connections.delete(key);
    });
    return peer;
  };
  const accept = (socket: Socket): void => void adopt(socket, socket.remoteAddress ?? '', socket.remotePort ?? 0);
  const server: Server =
    certificate === undefined ? createServer(accept) : createTlsServer({ ...certificate, requestCert: false }, accept);
  // A node that does not trust the certificate ends the handshake.
  server.on('tlsClientError', () => undefined);
  server.listen(own, host);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the TCP server has no port');
  return {
    protocol,
    port: bound.port,
    peer: (address, port) => ({
      protocol,
      address,
      port,
      send: (data) => {
        let socket = connections.get(`${address}:${port}`);
        if (socket === undefined || socket.destroyed) {
          socket =
            certificate === undefined
              ? connect(port, address)
              : connectTls({ port, host: address, rejectUnauthorized: false });
          adopt(socket, address, port);
        }
        socket.write(data);
      },
    }),
    cut: () => {
      for (const socket of connections.values()) socket.destroy();
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of connections.values()) socket.destroy();
      await closed;
    },
  };
}
