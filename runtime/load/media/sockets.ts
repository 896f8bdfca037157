/** UDP sockets for sound, used by one call after another. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** Every address is numeric, so `dgram` need not look any up. */
function numeric(
  address: string,
  _family: unknown,
  done: (error: null, address: string, family: number) => void,
): void {
  done(null, address, isIPv6(address) ? 6 : 4);
}

/** Binds sockets where none is free. Opening one takes longer than setting up a call. */
export class SoundSockets {
  readonly #host: string;
  readonly #free: Socket[] = [];
  readonly #all = new Set<Socket>();
  #closed = false;

  /** @param host IP address of this machine */
  constructor(host: string) {
    this.#host = host;
  }

  /** A bound socket on an even port (RFC 3550 section 11). @throws when the system has none left */
  async take(): Promise<Socket> {
    const known = this.#free.shift();
    if (known !== undefined) return known;
    for (;;) {
      const socket = createSocket({ type: isIPv6(this.#host) ? 'udp6' : 'udp4', lookup: numeric });
      // Without a lookup it listens before `bind` returns.
      const listening = once(socket, 'listening');
      socket.bind(0, this.#host);
      await listening;
      if (socket.address().port % 2 === 1) {
        socket.close();
        continue;
      }
      // ICMP "port unreachable" of a far end that closed first.
      socket.on('error', () => undefined);
      this.#all.add(socket);
      if (this.#closed) socket.close();
      return socket;
    }
  }

  /** Returns a socket for another call. */
  give(socket: Socket): void {
    socket.removeAllListeners('message');
    this.#free.push(socket);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const socket of this.#all) socket.close();
  }
}
