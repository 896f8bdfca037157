import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { SipTransportError } from './errors.ts';
import type { DeliveryFailure, ListeningPoint } from './transport.ts';
import { formatHostPort } from './uri.ts';

/** A peer that is not there says so within a round trip, ms. */
const LIFETIME = 1000;

/** What a probe tells the transport it belongs to. */
export interface UdpProbeEvents {
  message(data: Buffer, from: RemoteInfo): void;
  closed(): void;
}

/** Skips the resolver: addresses are numeric here, and dgram would defer every datagram for a lookup. */
export function numericLookup(
  address: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, address, address.includes(':') ? 6 : 4);
}

/**
 * A short-lived socket beside the listening one, bound to the same port and connected to one peer: the system reports
 * ICMP "port unreachable" to connected sockets only. While it is open the peer's datagrams arrive here.
 */
export class UdpProbe {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  readonly #events: UdpProbeEvents;
  readonly #failures = new Set<DeliveryFailure>();
  /** What is sent before the socket is connected. */
  #waiting: Buffer[] | undefined = [];
  readonly #expiry: NodeJS.Timeout;
  #closed = false;

  constructor(local: ListeningPoint, address: string, port: number, events: UdpProbeEvents) {
    this.#address = address;
    this.#port = port;
    this.#events = events;
    this.#socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', reuseAddr: true, lookup: numericLookup });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('message', (data, from) => events.message(data, from));
    this.#socket.bind({ address: local.host, port: local.port }, () => {
      if (!this.#closed) this.#socket.connect(port, address, (error?: Error | null) => this.#connected(error));
    });
    this.#expiry = setTimeout(() => this.close(), LIFETIME);
  }

  /** @param failure told when this or anything else sent to the peer meets an error, as long as the probe lives. */
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

  #connected(error: Error | null | undefined): void {
    if (this.#closed) return;
    if (error !== undefined && error !== null) {
      this.#fail(error);
      return;
    }
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

/** What the system's error for a datagram means. */
export function udpError(error: NodeJS.ErrnoException, address: string, port: number): SipTransportError {
  const reason = error.code === 'ECONNREFUSED' ? 'refused' : error.code === 'EMSGSIZE' ? 'too-large' : 'unreachable';
  return new SipTransportError(reason, `udp/${formatHostPort(address, port)}`, error.code ?? error.message);
}
