/** Types of SIP transports. */
import type { SipParseError, SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { formatHostPort } from './uri.ts';

/** The supported transports; `ws` and `wss` are WebSockets (RFC 7118). */
export type TransportName = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

/** The port of each transport where none is written (RFC 3261 section 19.1.2, RFC 7118 section 5.3). */
const DEFAULT_PORTS: Readonly<Record<TransportName, number>> = { udp: 5060, tcp: 5060, tls: 5061, ws: 80, wss: 443 };

/** The port of a transport where none is written. */
export function defaultPort(transport: TransportName): number {
  return DEFAULT_PORTS[transport];
}

export function isTransport(name: string): name is TransportName {
  return Object.hasOwn(DEFAULT_PORTS, name);
}

/** Whether the transport is encrypted. */
export function isSecure(transport: TransportName): boolean {
  return transport === 'tls' || transport === 'wss';
}

/** Whether the transport is a WebSocket: only the peer can open the connection. */
export function isWebSocket(transport: TransportName): boolean {
  return transport === 'ws' || transport === 'wss';
}

/** An address the endpoint listens on. */
export interface ListeningPoint {
  readonly transport: TransportName;
  readonly host: string;
  readonly port: number;
}

/** Where a message came from. */
export interface Source {
  readonly transport: TransportName;
  /** IP address and port that the packet came from. */
  readonly address: string;
  readonly port: number;
  /** The listening point that received it. */
  readonly local: ListeningPoint;
}

/** Where to send to. */
export interface Destination {
  readonly transport: TransportName;
  /** IP address or host name. */
  readonly host: string;
  readonly port: number;
  /** The host name that the address was looked up from: a TLS certificate must be for it. */
  readonly name?: string;
}

/** `udp/127.0.0.1:5060` */
export function formatDestination(destination: Destination): string {
  return `${destination.transport}/${formatHostPort(destination.host, destination.port)}`;
}

/** Events of a transport. */
export interface TransportEvents {
  message(message: SipRequest | SipResponse, source: Source): void;
  /** Bytes that are not a valid message. */
  malformed(error: SipParseError, source: Source): void;
  /** A connection was refused: a failed handshake, or a page that may not connect. */
  refused?(reason: string, source: Source): void;
  /** A connection that this side has registered over has ended: calls that come over it are lost. */
  lost?(source: Source): void;
}

/** Called when sent bytes cannot be delivered. */
export type DeliveryFailure = (error: SipTransportError) => void;
