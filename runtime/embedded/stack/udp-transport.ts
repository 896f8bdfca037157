import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { ListenError } from '../server.ts';
import { SipParseError, SipTransportError } from './errors.ts';
import { type ParseLimits, parseMessage } from './parse-message.ts';
import type { DeliveryFailure, ListeningPoint, TransportEvents } from './transport.ts';
import { formatHostPort } from './uri.ts';

/** Largest UDP payload over IPv4. */
const MAX_DATAGRAM = 65_507;

/** Skips the resolver: addresses are numeric here, and dgram would defer every datagram for a lookup. */
function numeric(
  address: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, address, address.includes(':') ? 6 : 4);
}

/** One UDP socket (RFC 3261 section 18): a datagram holds one message. */
export class UdpTransport {
  readonly #socket: Socket;
  readonly #events: TransportEvents;
  readonly #limits: ParseLimits;
  readonly #probes = new Map<string, Probe>();
  #closed = false;
  #point: ListeningPoint = { transport: 'udp', host: '', port: 0 };

  private constructor(socket: Socket, events: TransportEvents, limits: ParseLimits) {
    this.#socket = socket;
    this.#events = events;
    this.#limits = limits;
  }

  /** @throws ListenError when the address cannot be bound. */
  static async open(host: string, port: number, events: TransportEvents, limits: ParseLimits): Promise<UdpTransport> {
    // The first bind is exclusive, so that a taken port is noticed; the second allows the probes' sockets beside it.
    const exclusive = await bind(host, port, false);
    const bound = exclusive.address().port;
    await new Promise<void>((resolve) => exclusive.close(() => resolve()));
    const socket = await bind(host, bound, true);
    const transport = new UdpTransport(socket, events, limits);
    transport.#point = { transport: 'udp', host, port: bound };
    socket.on('message', (data, from) => transport.#receive(data, from));
    // An error on an unconnected socket concerns one datagram; the socket goes on.
    socket.on('error', () => undefined);
    return transport;
  }

  get point(): ListeningPoint {
    return this.#point;
  }

  /** Open sockets. */
  get sockets(): number {
    return 1 + this.#probes.size;
  }

  /** Sends a datagram to an IP address. */
  send(data: Buffer, address: string, port: number, failure?: DeliveryFailure): void {
    if (this.#closed) return;
    if (data.length > MAX_DATAGRAM) {
      const target = `udp/${formatHostPort(address, port)}`;
      queueMicrotask(() => failure?.(new SipTransportError('too-large', target, `${data.length} bytes`)));
      return;
    }
    if (failure === undefined) {
      // Nobody waits: without a callback no tick is spent on each datagram.
      this.#socket.send(data, port, address);
      return;
    }
    this.#socket.send(data, port, address, (error) => {
      if (error !== null) failure(udpError(error, address, port));
    });
  }

  /**
   * Sends a retransmission from a socket connected to the peer, bound to the same local port: only a connected socket
   * is told of ICMP "port unreachable". It closes after `lifetime` ms or when the peer answers.
   */
  probe(data: Buffer, address: string, port: number, failure: DeliveryFailure): void {
    if (this.#closed) return;
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
    const probe = new Probe(this.#point, address, port, {
      message: (datagram, from) => this.#receive(datagram, from),
      closed: () => this.#probes.delete(key),
    });
    this.#probes.set(key, probe);
    probe.send(data, failure);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const probe of this.#probes.values()) probe.close();
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #receive(data: Buffer, from: RemoteInfo): void {
    // Keep-alives: nothing, CRLFs, or a few zero bytes (RFC 5626 section 4.4 and common practice).
    if (data.length < 12) return;
    const source = { transport: 'udp' as const, address: from.address, port: from.port, local: this.#point };
    try {
      this.#events.message(parseMessage(data, this.#limits), source);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#events.malformed(error, undefined, source);
    }
  }
}

const MAX_PROBES = 256;
/** A peer that is not there says so within a round trip. */
const PROBE_LIFETIME = 1000;

interface ProbeEvents {
  message(data: Buffer, from: RemoteInfo): void;
  closed(): void;
}

/** A short-lived connected socket beside the listening one. */
class Probe {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  readonly #events: ProbeEvents;
  readonly #failures = new Set<DeliveryFailure>();
  #waiting: Buffer[] | undefined = [];
  readonly #expiry: NodeJS.Timeout;
  #closed = false;

  constructor(local: ListeningPoint, address: string, port: number, events: ProbeEvents) {
    this.#address = address;
    this.#port = port;
    this.#events = events;
    this.#socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', reuseAddr: true, lookup: numeric });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('message', (data, from) => events.message(data, from));
    this.#socket.bind({ address: local.host, port: local.port }, () => {
      this.#socket.connect(port, address, () => this.#flush());
    });
    this.#expiry = setTimeout(() => this.close(), PROBE_LIFETIME);
  }

  send(data: Buffer, failure: DeliveryFailure): void {
    this.#failures.add(failure);
    if (this.#waiting !== undefined) this.#waiting.push(data);
    else this.#write(data);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#expiry);
    this.#failures.clear();
    this.#socket.close();
    this.#events.closed();
  }

  #flush(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const data of waiting) this.#write(data);
  }

  #write(data: Buffer): void {
    if (this.#closed) return;
    this.#socket.send(data, (error) => {
      if (error !== null) this.#fail(error);
    });
  }

  #fail(error: Error): void {
    const failures = [...this.#failures];
    this.close();
    for (const failure of failures) failure(udpError(error, this.#address, this.#port));
  }
}

function bind(host: string, port: number, reuseAddr: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      reuseAddr,
      lookup: numeric,
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

function udpError(error: NodeJS.ErrnoException, address: string, port: number): SipTransportError {
  const reason = error.code === 'ECONNREFUSED' ? 'refused' : error.code === 'EMSGSIZE' ? 'too-large' : 'unreachable';
  return new SipTransportError(reason, `udp/${formatHostPort(address, port)}`, error.code ?? error.message);
}
