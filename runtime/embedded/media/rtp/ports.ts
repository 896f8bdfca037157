/** RTP ports. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { numericLookup } from '../../stack/index.ts';

/** An RTP socket on an even port and the RTCP socket on the next one (RFC 3550 section 11). */
export interface PortPair {
  readonly port: number;
  readonly rtp: Socket;
  readonly rtcp: Socket;
  /** Closes both sockets and returns the ports to the pool. Further calls have no effect. */
  release(): void;
}

/** All port pairs of the range are in use, by this server or by other programs. */
export class NoPortError extends Error {
  override readonly name = 'NoPortError';
  constructor(from: number, to: number) {
    super(`no free RTP port in ${from}-${to}: widen the range, or end calls`);
  }
}

/** Opens a UDP socket bound to a literal IP address. Rejects with the system's error. */
export async function bindUdp(address: string, port: number): Promise<Socket> {
  const type = isIPv6(address) ? 'udp6' : 'udp4';
  const socket = createSocket({ type, ipv6Only: type === 'udp6', lookup: numericLookup, recvBufferSize: 262_144 });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.once('error', reject);
  socket.bind({ address, port, exclusive: true }, () => {
    socket.off('error', reject);
    resolve(socket);
  });
  try {
    return await promise;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** Hands out port pairs of a range in turn, so that a port stays unused as long as possible between two calls. */
class AddressPorts {
  readonly #address: string;
  readonly #from: number;
  readonly #to: number;
  readonly #used = new Set<number>();
  #cursor: number;

  /**
   * @param address literal IP address of the sockets
   * @param range first and last port, inclusive; pairs start on even ports
   */
  constructor(address: string, range: { readonly from: number; readonly to: number }) {
    this.#address = address;
    this.#from = range.from + (range.from & 1);
    this.#to = range.to;
    this.#cursor = this.#from;
  }

  /** Number of pairs in use. */
  get used(): number {
    return this.#used.size;
  }

  /** @throws NoPortError when no pair of the range can be opened */
  async open(): Promise<PortPair> {
    const pairs = Math.max(0, Math.floor((this.#to - this.#from + 1) / 2));
    for (let attempt = 0; attempt < pairs; attempt += 1) {
      const port = this.#cursor;
      this.#cursor = port + 3 > this.#to ? this.#from : port + 2;
      if (this.#used.has(port)) continue;
      this.#used.add(port);
      const pair = await this.#bindPair(port);
      if (pair !== undefined) return pair;
      this.#used.delete(port);
    }
    throw new NoPortError(this.#from, this.#to);
  }

  async #bindPair(port: number): Promise<PortPair | undefined> {
    let rtp: Socket;
    try {
      rtp = await bindUdp(this.#address, port);
    } catch {
      return undefined; // in use by another program: the caller tries the next pair
    }
    try {
      const rtcp = await bindUdp(this.#address, port + 1);
      let open = true;
      const release = (): void => {
        if (!open) return;
        open = false;
        rtp.close(() => this.#used.delete(port));
        rtcp.close();
      };
      return { port, rtp, rtcp, release };
    } catch {
      rtp.close();
      return undefined;
    }
  }
}

/** The port pairs of a range, at each address that calls use. */
export class PortPool {
  readonly #range: { readonly from: number; readonly to: number };
  readonly #byAddress = new Map<string, AddressPorts>();

  /** @param range first and last port, inclusive; pairs start on even ports */
  constructor(range: { readonly from: number; readonly to: number }) {
    this.#range = range;
  }

  /** Number of pairs in use. */
  get used(): number {
    let sum = 0;
    for (const { used } of this.#byAddress.values()) sum += used;
    return sum;
  }

  /** @param address literal IP address @throws NoPortError when no pair of the range can be opened */
  open(address: string): Promise<PortPair> {
    const known = this.#byAddress.get(address) ?? new AddressPorts(address, this.#range);
    this.#byAddress.set(address, known);
    return known.open();
  }
}
