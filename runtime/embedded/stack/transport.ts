import type { SipParseError, SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { formatHostPort } from './uri.ts';

/** Transports there are. TLS, WS and WSS fit the same interfaces. */
export type TransportName = 'udp' | 'tcp';

/** An address the endpoint listens on. */
export interface ListeningPoint {
  readonly transport: TransportName;
  readonly host: string;
  readonly port: number;
}

/** Where a message came from. */
export interface Source {
  readonly transport: TransportName;
  /** Peer's IP address and port as the packet shows them. */
  readonly address: string;
  readonly port: number;
  /** Where it arrived. */
  readonly local: ListeningPoint;
}

/** Where to send to. */
export interface Destination {
  readonly transport: TransportName;
  /** IP address or host name. */
  readonly host: string;
  readonly port: number;
}

/** `udp/127.0.0.1:5060` */
export function formatDestination(destination: Destination): string {
  return `${destination.transport}/${formatHostPort(destination.host, destination.port)}`;
}

/** What a transport tells the endpoint. */
export interface TransportEvents {
  message(message: SipRequest | SipResponse, source: Source): void;
  /** Bytes that are no valid message. */
  malformed(error: SipParseError, source: Source): void;
}

/** Told when what was sent cannot arrive. */
export type DeliveryFailure = (error: SipTransportError) => void;
