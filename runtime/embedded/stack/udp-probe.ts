/** Short-lived connected UDP sockets, which learn of unreachable ports. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { SipTransportError } from './errors.ts';
import type { DeliveryFailure, ListeningPoint } from './transport.ts';
import { numericLookup } from '../../sip-facts/index.ts';
import { formatHostPort } from './uri.ts';

/** Lifetime of a probe, ms: an ICMP "port unreachable" comes within a round trip. */
export const PROBE_LIFETIME = 1000;

/** Events of a probe, for its transport. */
export interface UdpProbeEvents {
  message(data: Buffer, from: RemoteInfo): void;
  /** The probe sends nothing more. @param released settles when its socket is closed. */
  closed(released: Promise<void>): void;
}

/**
 * A short-lived socket with the port of the listening one, connected to one peer: the system reports ICMP "port
 * unreachable" to connected sockets only. While it is open it receives the peer's datagrams.
 */
export class UdpProbe {
  readonly #socket: Socket;
  readonly #local: ListeningPoint;
  readonly #address: string;
  readonly #port: number;
  readonly #events: UdpProbeEvents;
  readonly #failures = new Set<DeliveryFailure>();
  /** Datagrams to send once the socket is connected. */
  #waiting: Buffer[] | undefined = [];
  readonly #expiry: NodeJS.Timeout;
  #closed = false;

  constructor(local: ListeningPoint, address: string, port: number, events: UdpProbeEvents) {
    this.#local = local;
    this.#address = address;
    this.#port = port;
    this.#events = events;
    const type = isIPv6(address) ? 'udp6' : 'udp4';
    this.#socket = createSocket({ type, ipv6Only: type === 'udp6', reuseAddr: true, lookup: numericLookup });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('message', (data, from) => events.message(data, from));
    this.#socket.bind({ address: local.host, port: local.port }, () => {
      if (!this.#closed) this.#socket.connect(port, address, (error?: Error | null) => this.#connected(error));
    });
    this.#expiry = setTimeout(() => this.close(), PROBE_LIFETIME);
  }

  /** @param failure called when a datagram to this peer fails while the probe is open, not only this one. */
  send(data: Buffer, failure: DeliveryFailure): void {
    this.#failures.add(failure);
    if (this.#waiting !== undefined) this.#waiting.push(data);
    else this.#write(data);
  }

  /** Closes the probe. Datagrams that have arrived are still reported. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#expiry);
    this.#failures.clear();
    this.#turnAway();
    this.#events.closed(this.#release());
  }

  async #release(): Promise<void> {
    // Datagrams in the socket's queue would be lost with it. The next round of the event loop reads them, and the
    // second immediate runs after that.
    await setImmediate();
    await setImmediate();
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  /** Lets the peer's datagrams go to the listening socket again. */
  #turnAway(): void {
    if (this.#waiting !== undefined) return;
    this.#socket.disconnect();
    // An unconnected socket would take datagrams meant for the listening socket. Connected to the listening socket's
    // own address, this one receives no others.
    this.#socket.connect(this.#local.port, this.#local.host);
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

/** Converts the system's error for a datagram. */
export function udpError(error: NodeJS.ErrnoException, address: string, port: number): SipTransportError {
  const reason = error.code === 'ECONNREFUSED' ? 'refused' : error.code === 'EMSGSIZE' ? 'too-large' : 'unreachable';
  return new SipTransportError(reason, `udp/${formatHostPort(address, port)}`, error.code ?? error.message);
}
