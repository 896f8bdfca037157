/** SIP over UDP. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { ListenError } from '../listen-error.ts';
import { SipParseError, SipTransportError } from './errors.ts';
import { type ParseLimits, parseMessage } from './parse-message.ts';
import { RecentPeers } from './recent-peers.ts';
import type { DeliveryFailure, ListeningPoint, TransportEvents } from './transport.ts';
import { numericLookup } from '../../sip-facts/index.ts';
import { udpError, UdpProbe } from './udp-probe.ts';
import { formatHostPort, isPort } from './uri.ts';

/** Largest UDP payload over IPv4. */
const MAX_DATAGRAM = 65_507;
const MAX_PROBES = 256;

/** One UDP socket (RFC 3261 section 18). A datagram holds one message. */
export class UdpTransport {
  readonly #socket: Socket;
  readonly #events: TransportEvents;
  readonly #limits: ParseLimits;
  readonly #probes = new Map<string, UdpProbe>();
  /** Closed probes that still read queued datagrams. */
  readonly #released = new Set<Promise<void>>();
  readonly #alive = new RecentPeers();
  #closed = false;
  #point: ListeningPoint = { transport: 'udp', host: '', port: 0 };

  private constructor(socket: Socket, events: TransportEvents, limits: ParseLimits) {
    this.#socket = socket;
    this.#events = events;
    this.#limits = limits;
  }

  /** @throws ListenError when the address cannot be bound. */
  static async open(host: string, port: number, events: TransportEvents, limits: ParseLimits): Promise<UdpTransport> {
    // The first bind is exclusive and detects a port in use. The second one allows the probes' sockets on the same
    // port.
    const exclusive = await bind(host, port, false);
    const bound = exclusive.address().port;
    await new Promise<void>((resolve) => exclusive.close(() => resolve()));
    const socket = await bind(host, bound, true);
    const transport = new UdpTransport(socket, events, limits);
    transport.#point = { transport: 'udp', host, port: bound };
    socket.on('message', (data, from) => transport.#receive(data, from));
    // An error on an unconnected socket concerns one datagram; the socket stays usable.
    socket.on('error', () => undefined);
    return transport;
  }

  get point(): ListeningPoint {
    return this.#point;
  }

  /** Open sockets. */
  get sockets(): number {
    return 1 + this.#probes.size + this.#released.size;
  }

  /** Sends a datagram to an IP address. */
  send(data: Buffer, address: string, port: number, failure?: DeliveryFailure): void {
    if (this.#closed) return;
    const obstacle = obstacleTo(data, address, port);
    if (obstacle !== undefined) {
      queueMicrotask(() => failure?.(obstacle));
      return;
    }
    if (failure === undefined) {
      // Without a callback dgram saves a tick for each datagram.
      this.#socket.send(data, port, address);
      return;
    }
    this.#socket.send(data, port, address, (error) => {
      if (error !== null) failure(udpError(error, address, port));
    });
  }

  /**
   * Sends a request. For a peer that has sent nothing recently it uses {@link probe}, which learns of ICMP "port
   * unreachable" at once, like drachtio-server.
   */
  request(data: Buffer, address: string, port: number, failure: DeliveryFailure): void {
    if (this.#alive.has(address, port)) this.send(data, address, port, failure);
    else this.probe(data, address, port, failure);
  }

  /**
   * Sends from a {@link UdpProbe}, which learns of "port unreachable", or from the usual socket if too many are open.
   */
  probe(data: Buffer, address: string, port: number, failure: DeliveryFailure): void {
    if (this.#closed) return;
    if (obstacleTo(data, address, port) !== undefined) {
      this.send(data, address, port, failure);
      return;
    }
    const key = formatHostPort(address, port);
    const open = this.#probes.get(key);
    if (open !== undefined) {
      open.send(data, failure);
      return;
    }
    if (this.#probes.size >= MAX_PROBES) {
      this.send(data, address, port, failure);
      return;
    }
    const probe = new UdpProbe(this.#point, address, port, {
      message: (datagram, from) => this.#receive(datagram, from),
      closed: (released) => {
        this.#probes.delete(key);
        this.#released.add(released);
        void released.then(() => this.#released.delete(released));
      },
    });
    this.#probes.set(key, probe);
    probe.send(data, failure);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const probe of this.#probes.values()) probe.close();
    const closed = new Promise<void>((resolve) => this.#socket.close(() => resolve()));
    await Promise.all([closed, ...this.#released]);
  }

  #receive(data: Buffer, from: RemoteInfo): void {
    // Keep-alives: empty, CRLFs, or a few zero bytes (RFC 5626 section 4.4, and common practice).
    if (data.length < 12) return;
    this.#alive.heard(from.address, from.port);
    const source = { transport: 'udp' as const, address: from.address, port: from.port, local: this.#point };
    try {
      this.#events.message(parseMessage(data, this.#limits), source);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#events.malformed(error, source);
    }
  }
}

/** The error of a datagram that cannot be sent at all. */
function obstacleTo(data: Buffer, address: string, port: number): SipTransportError | undefined {
  const target = `udp/${formatHostPort(address, port)}`;
  if (!isPort(port)) return new SipTransportError('unreachable', target, 'no port to send to');
  if (data.length > MAX_DATAGRAM) return new SipTransportError('too-large', target, `${data.length} bytes`);
  return undefined;
}

function bind(host: string, port: number, reuseAddr: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      // `::` does not stand for the IPv4 addresses too: those have a socket of their own.
      ipv6Only: isIPv6(host),
      reuseAddr,
      lookup: numericLookup,
      recvBufferSize: 1 << 20,
    });
    const failed = (error: NodeJS.ErrnoException): void => {
      socket.close();
      reject(new ListenError(error.code ?? 'UNKNOWN', `udp/${formatHostPort(host, port)}`, 'SIP'));
    };
    socket.once('error', failed);
    socket.bind({ address: host, port }, () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
