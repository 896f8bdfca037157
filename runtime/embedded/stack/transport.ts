/** Types of SIP transports. */
import type { SipParseError, SipTransportError } from './errors.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { formatHostPort } from './uri.ts';

/** The supported transports. TLS, WS and WSS would fit the same interfaces. */
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
}

/** Called when sent bytes cannot be delivered. */
export type DeliveryFailure = (error: SipTransportError) => void;
