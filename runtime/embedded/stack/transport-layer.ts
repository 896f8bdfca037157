/** All transports of an endpoint. */
import { isIPv6 } from 'node:net';
import { ListenError } from '../listen-error.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from './connection.ts';
import { SipTransportError } from './errors.ts';
import { choosePoint, OwnAddresses } from './local-address.ts';
import type { SipRequest } from './message.ts';
import { DEFAULT_LIMITS, type ParseLimits } from './parse-message.ts';
import type { Trust } from './secure-client.ts';
import type { Certificate } from './secure-server.ts';
import { StreamTransport } from './stream-transport.ts';
import type { Channel } from './transaction.ts';
import {
  defaultPort,
  type DeliveryFailure,
  type Destination,
  formatDestination,
  type ListeningPoint,
  type Source,
  type TransportEvents,
  type TransportName,
} from './transport.ts';
import { UdpTransport } from './udp-transport.ts';
import { formatHost } from './uri.ts';
import type { WebSocketRules } from './websocket-rules.ts';

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
  readonly #own: OwnAddresses;
  #trust: Trust;
  readonly #udp: UdpTransport[] = [];
  readonly #streams: StreamTransport[] = [];

  constructor(
    events: TransportEvents,
    limits: ParseLimits = DEFAULT_LIMITS,
    tcpLimits: TcpLimits = DEFAULT_TCP_LIMITS,
    own: OwnAddresses = new OwnAddresses(),
    trust: Trust = {},
  ) {
    this.#own = own;
    this.#events = events;
    this.#limits = limits;
    this.#tcpLimits = tcpLimits;
    this.#trust = trust;
  }

  /** @throws ListenError */
  async listenUdp(address: ListenAddress): Promise<ListeningPoint> {
    const transport = await UdpTransport.open(address.host, address.port, this.#events, this.#limits);
    this.#udp.push(transport);
    return transport.point;
  }

  /** @throws ListenError */
  async listenTcp(address: ListenAddress): Promise<ListeningPoint> {
    return this.#listenStream('tcp', address);
  }

  /** @throws ListenError; an Error of OpenSSL for a certificate that cannot be used */
  async listenTls(address: ListenAddress, certificate: Certificate): Promise<ListeningPoint> {
    return this.#listenStream('tls', address, { certificate });
  }

  /** @throws ListenError; an Error of OpenSSL for a certificate that cannot be used */
  async listenWebSocket(
    address: ListenAddress,
    webSocket: WebSocketRules,
    certificate?: Certificate,
  ): Promise<ListeningPoint> {
    if (certificate === undefined) return this.#listenStream('ws', address, { webSocket });
    return this.#listenStream('wss', address, { webSocket, certificate });
  }

  /** Uses another certificate for connections from now on. */
  replaceCertificate(certificate: Certificate): void {
    for (const stream of this.#streams) stream.replaceCertificate(certificate);
  }

  /** Checks certificates of servers against this from now on; open connections stay. */
  trust(trust: Trust): void {
    this.#trust = trust;
    for (const stream of this.#streams) stream.trust(trust);
  }

  /**
   * Listens on UDP and TCP with the same port. Port 0 takes a port that is free for both.
   * @throws ListenError
   */
  async listenBoth(address: ListenAddress): Promise<ListeningPoint> {
    for (let attempt = 1; ; attempt += 1) {
      const tcp = await this.#openStream('tcp', address);
      try {
        this.#udp.push(await UdpTransport.open(address.host, tcp.point.port, this.#events, this.#limits));
        this.#streams.push(tcp);
        return tcp.point;
      } catch (error) {
        await tcp.close();
        if (!(error instanceof ListenError) || address.port !== 0 || attempt === 20) throw error;
      }
    }
  }

  /** Bound addresses, UDP first. */
  get points(): ListeningPoint[] {
    return [...this.#udp.map(({ point }) => point), ...this.#streams.flatMap(({ points }) => points)];
  }

  get sockets(): number {
    let count = 0;
    for (const transport of this.#udp) count += transport.sockets;
    for (const transport of this.#streams) count += transport.sockets;
    return count;
  }

  /** Whether a connection to that address is open. */
  isConnected({ transport, host, port }: Destination): boolean {
    return this.#streams.some((stream) => stream.serves(transport) && stream.connected(host, port));
  }

  /** The listening point used towards a destination. @throws SipTransportError `no-transport`. */
  localPoint(destination: Destination): ListeningPoint {
    const { host, port } = destination;
    const chosen = this.#choose(destination);
    return chosen instanceof UdpTransport ? chosen.point : chosen.pointTowards(host, port);
  }

  /** The address in Via and Contact towards a destination. @throws SipTransportError `no-transport`. */
  sentBy(destination: Destination): ListeningPoint {
    const { host, port } = destination;
    const chosen = this.#choose(destination);
    if (chosen instanceof UdpTransport) return this.#seenFrom(chosen.point, host);
    return this.#seenFrom(chosen.pointTowards(host, port), host, chosen.localAddress(host, port));
  }

  /** Whether a listener for the transport has the family of the address. */
  reaches(transport: TransportName, address: string): boolean {
    return this.#candidates(transport).some(({ point }) => isIPv6(point.host) === isIPv6(address));
  }

  #seenFrom(point: ListeningPoint, peer: string, actual?: string): ListeningPoint {
    return { ...point, host: this.#own.towards(point.host, peer, actual) };
  }

  /** The Via of a request to a destination (section 18.1.1). @throws SipTransportError `no-transport`. */
  via(destination: Destination, branch: string): string {
    const { transport, host, port } = this.sentBy(destination);
    const sentBy = port === defaultPort(transport) ? formatHost(host) : `${formatHost(host)}:${port}`;
    const rport = transport === 'udp' ? ';rport' : '';
    return `SIP/2.0/${transport.toUpperCase()} ${sentBy}${rport};branch=${branch}`;
  }

  /**
   * Creates the channel of a client transaction.
   * @param failure called for every delivery problem until the channel is released.
   * @throws SipTransportError `no-transport`.
   */
  clientChannel(destination: Destination, failure: DeliveryFailure): Channel {
    const { host, port, name } = destination;
    const chosen = this.#choose(destination);
    if (chosen instanceof UdpTransport) {
      return {
        reliable: false,
        send: (data) => chosen.request(data, host, port, failure),
        resend: (data) => chosen.probe(data, host, port, failure),
      };
    }
    return {
      reliable: true,
      send: (data) => chosen.send(data, host, port, failure, name),
      release: () => chosen.release(host, port, failure, name),
    };
  }

  /** Sends bytes outside of any transaction. @throws SipTransportError `no-transport`. */
  send(data: Buffer, destination: Destination): void {
    const chosen = this.#choose(destination);
    const { host, port, name } = destination;
    if (chosen instanceof UdpTransport) chosen.send(data, host, port);
    else chosen.send(data, host, port, undefined, name);
  }

  /**
   * Creates the channel of a server transaction: to the source of the request (RFC 3581 section 4, RFC 3261 section
   * 18.2.2) or, when its TCP connection has closed, to the address in the Via.
   */
  replyChannel(source: Source, request: SipRequest): Channel {
    if (source.transport === 'udp') {
      const udp = this.#udp.find(({ point }) => point === source.local);
      return { reliable: false, send: (data) => udp?.send(data, source.address, source.port) };
    }
    const stream = this.#streams.find((one) => one.received(source));
    return {
      reliable: true,
      send: (data) => {
        if (stream === undefined) return;
        if (stream.connected(source.address, source.port)) stream.send(data, source.address, source.port);
        else if (source.transport === 'tcp') stream.send(data, source.address, request.topVia.port ?? 5060);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#udp, ...this.#streams].map((transport) => transport.close()));
  }

  async #listenStream(
    transport: Exclude<TransportName, 'udp'>,
    address: ListenAddress,
    options: { certificate?: Certificate; webSocket?: WebSocketRules } = {},
  ): Promise<ListeningPoint> {
    const stream = await this.#openStream(transport, address, options);
    this.#streams.push(stream);
    return stream.point;
  }

  #openStream(
    transport: Exclude<TransportName, 'udp'>,
    address: ListenAddress,
    options: { certificate?: Certificate; webSocket?: WebSocketRules } = {},
  ): Promise<StreamTransport> {
    const common = {
      events: this.#events,
      limits: this.#limits,
      tcp: this.#tcpLimits,
      trust: this.#trust,
    };
    return StreamTransport.open({ transport, host: address.host, port: address.port, ...common, ...options });
  }

  #choose(destination: Destination): UdpTransport | StreamTransport {
    const { transport, host, port } = destination;
    const chosen = transport === 'udp' ? choosePoint(this.#udp, host) : this.#chooseStream(transport, host, port);
    if (chosen !== undefined) return chosen;
    const target = formatDestination(destination);
    if (this.#candidates(transport).length === 0) throw new SipTransportError('no-transport', target);
    throw new SipTransportError('unreachable', target, `no ${isIPv6(host) ? 'IPv6' : 'IPv4'} address to send from`);
  }

  #chooseStream(transport: TransportName, host: string, port: number): StreamTransport | undefined {
    const serving = this.#serving(transport);
    return serving.find((stream) => stream.connected(host, port)) ?? choosePoint(serving, host);
  }

  #serving(transport: TransportName): StreamTransport[] {
    return this.#streams.filter((stream) => stream.serves(transport));
  }

  #candidates(transport: TransportName): readonly { readonly point: ListeningPoint }[] {
    return transport === 'udp' ? this.#udp : this.#serving(transport);
  }
}
