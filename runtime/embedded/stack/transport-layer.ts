/** All transports of an endpoint. */
import { ListenError } from '../listen-error.ts';
import { SipTransportError } from './errors.ts';
import { choosePoint, reachableHost } from './local-address.ts';
import type { SipRequest } from './message.ts';
import { DEFAULT_LIMITS, type ParseLimits } from './parse-message.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits, TcpTransport } from './tcp-transport.ts';
import type { Channel } from './transaction.ts';
import {
  type DeliveryFailure,
  type Destination,
  formatDestination,
  type ListeningPoint,
  type Source,
  type TransportEvents,
} from './transport.ts';
import { UdpTransport } from './udp-transport.ts';
import { formatHost } from './uri.ts';

/** An address to listen on. Port 0 takes a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** All sockets of an endpoint (RFC 3261 section 18). */
export class TransportLayer {
  readonly #events: TransportEvents;
  readonly #limits: ParseLimits;
  readonly #tcpLimits: TcpLimits;
  readonly #udp: UdpTransport[] = [];
  readonly #tcp: TcpTransport[] = [];

  constructor(
    events: TransportEvents,
    limits: ParseLimits = DEFAULT_LIMITS,
    tcpLimits: TcpLimits = DEFAULT_TCP_LIMITS,
  ) {
    this.#events = events;
    this.#limits = limits;
    this.#tcpLimits = tcpLimits;
  }

  /** @throws ListenError */
  async listenUdp(address: ListenAddress): Promise<ListeningPoint> {
    const transport = await UdpTransport.open(address.host, address.port, this.#events, this.#limits);
    this.#udp.push(transport);
    return transport.point;
  }

  /** @throws ListenError */
  async listenTcp(address: ListenAddress): Promise<ListeningPoint> {
    const transport = await TcpTransport.open(address.host, address.port, this.#events, this.#limits, this.#tcpLimits);
    this.#tcp.push(transport);
    return transport.point;
  }

  /**
   * Listens on UDP and TCP with the same port. Port 0 takes a port that is free for both.
   * @throws ListenError
   */
  async listenBoth(address: ListenAddress): Promise<ListeningPoint> {
    for (let attempt = 1; ; attempt += 1) {
      const tcp = await TcpTransport.open(address.host, address.port, this.#events, this.#limits, this.#tcpLimits);
      try {
        this.#udp.push(await UdpTransport.open(address.host, tcp.point.port, this.#events, this.#limits));
        this.#tcp.push(tcp);
        return tcp.point;
      } catch (error) {
        await tcp.close();
        if (!(error instanceof ListenError) || address.port !== 0 || attempt === 20) throw error;
      }
    }
  }

  /** Bound addresses, UDP first. */
  get points(): ListeningPoint[] {
    return [...this.#udp.map(({ point }) => point), ...this.#tcp.map(({ point }) => point)];
  }

  get sockets(): number {
    let count = 0;
    for (const transport of this.#udp) count += transport.sockets;
    for (const transport of this.#tcp) count += transport.sockets;
    return count;
  }

  /** Whether a TCP connection to that address is open. */
  isConnected(destination: Destination): boolean {
    return (
      destination.transport === 'tcp' && this.#tcp.some((tcp) => tcp.connected(destination.host, destination.port))
    );
  }

  /** The listening point used towards a destination. @throws SipTransportError `no-transport`. */
  localPoint(destination: Destination): ListeningPoint {
    return this.#choose(destination).point;
  }

  /** Host and port of Via and Contact towards a destination. @throws SipTransportError `no-transport`. */
  sentBy(destination: Destination): ListenAddress {
    const point = this.localPoint(destination);
    return { host: reachableHost(point, destination.host), port: point.port };
  }

  /** The Via of a request to a destination (section 18.1.1). @throws SipTransportError `no-transport`. */
  via(destination: Destination, branch: string): string {
    const { host, port } = this.sentBy(destination);
    const sentBy = port === 5060 ? formatHost(host) : `${formatHost(host)}:${port}`;
    return destination.transport === 'udp'
      ? `SIP/2.0/UDP ${sentBy};rport;branch=${branch}`
      : `SIP/2.0/TCP ${sentBy};branch=${branch}`;
  }

  /**
   * Creates the channel of a client transaction.
   * @param failure called for every delivery problem until the channel is released.
   * @throws SipTransportError `no-transport`.
   */
  clientChannel(destination: Destination, failure: DeliveryFailure): Channel {
    const { host, port } = destination;
    if (destination.transport === 'udp') {
      const udp = this.#choose(destination) as UdpTransport;
      return {
        reliable: false,
        send: (data) => udp.request(data, host, port, failure),
        resend: (data) => udp.probe(data, host, port, failure),
      };
    }
    const tcp = this.#choose(destination) as TcpTransport;
    return {
      reliable: true,
      send: (data) => tcp.send(data, host, port, failure),
      release: () => tcp.release(host, port, failure),
    };
  }

  /** Sends bytes outside of any transaction. @throws SipTransportError `no-transport`. */
  send(data: Buffer, destination: Destination): void {
    const transport = this.#choose(destination);
    transport.send(data, destination.host, destination.port);
  }

  /**
   * Creates the channel of a server transaction: to the source of the request (RFC 3581 section 4, RFC 3261 section
   * 18.2.2) or, when its connection has closed, to the address in the Via.
   */
  replyChannel(source: Source, request: SipRequest): Channel {
    if (source.transport === 'udp') {
      const udp = this.#udp.find(({ point }) => point === source.local);
      return { reliable: false, send: (data) => udp?.send(data, source.address, source.port) };
    }
    const tcp = this.#tcp.find(({ point }) => point === source.local);
    return {
      reliable: true,
      send: (data) => {
        if (tcp === undefined) return;
        if (tcp.connected(source.address, source.port)) tcp.send(data, source.address, source.port);
        else tcp.send(data, source.address, request.topVia.port ?? 5060);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#udp, ...this.#tcp].map((transport) => transport.close()));
  }

  #choose(destination: Destination): UdpTransport | TcpTransport {
    const candidates: readonly (UdpTransport | TcpTransport)[] =
      destination.transport === 'udp' ? this.#udp : this.#tcp;
    const chosen =
      (destination.transport === 'tcp' && this.#tcp.find((tcp) => tcp.connected(destination.host, destination.port))) ||
      choosePoint(candidates, destination.host);
    if (chosen === undefined) throw new SipTransportError('no-transport', formatDestination(destination));
    return chosen;
  }
}
