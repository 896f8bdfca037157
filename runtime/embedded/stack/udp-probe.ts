import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { SipTransportError } from './errors.ts';
import type { DeliveryFailure, ListeningPoint } from './transport.ts';
import { formatHostPort } from './uri.ts';

/** A peer that is not there says so within a round trip, ms. */
export const PROBE_LIFETIME = 1000;

/** What a probe tells the transport it belongs to. */
export interface UdpProbeEvents {
  message(data: Buffer, from: RemoteInfo): void;
  /** It takes nothing more to send. @param released settles when its socket is gone. */
  closed(released: Promise<void>): void;
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
  readonly #local: ListeningPoint;
  readonly #address: string;
  readonly #port: number;
  readonly #events: UdpProbeEvents;
  readonly #failures = new Set<DeliveryFailure>();
  /** What is sent before the socket is connected. */
  #waiting: Buffer[] | undefined = [];
  readonly #expiry: NodeJS.Timeout;
  #closed = false;

  constructor(local: ListeningPoint, address: string, port: number, events: UdpProbeEvents) {
    this.#local = local;
    this.#address = address;
    this.#port = port;
    this.#events = events;
    this.#socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', reuseAddr: true, lookup: numericLookup });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('message', (data, from) => events.message(data, from));
    this.#socket.bind({ address: local.host, port: local.port }, () => {
      if (!this.#closed) this.#socket.connect(port, address, (error?: Error | null) => this.#connected(error));
    });
    this.#expiry = setTimeout(() => this.close(), PROBE_LIFETIME);
  }

  /** @param failure told when this or anything else sent to the peer meets an error, as long as the probe lives. */
  send(data: Buffer, failure: DeliveryFailure): void {
    this.#failures.add(failure);
    if (this.#waiting !== undefined) this.#waiting.push(data);
    else this.#write(data);
  }

  /** What has arrived by now is still reported. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#expiry);
    this.#failures.clear();
    this.#turnAway();
    this.#events.closed(this.#release());
  }

  async #release(): Promise<void> {
    // A datagram that the system has queued here would be lost with the socket: it is read in the next round of the event
    // loop, and the second immediate comes after that.
    await setImmediate();
    await setImmediate();
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  /** From now on the peer's datagrams go to the listening socket. */
  #turnAway(): void {
    if (this.#waiting !== undefined) return;
    this.#socket.disconnect();
    // Unconnected it would take what is meant for the listening socket: nobody but that one sends from there.
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

/** What the system's error for a datagram means. */
export function udpError(error: NodeJS.ErrnoException, address: string, port: number): SipTransportError {
  const reason = error.code === 'ECONNREFUSED' ? 'refused' : error.code === 'EMSGSIZE' ? 'too-large' : 'unreachable';
  return new SipTransportError(reason, `udp/${formatHostPort(address, port)}`, error.code ?? error.message);
}
