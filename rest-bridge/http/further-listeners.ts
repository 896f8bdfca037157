/** Further addresses of an HTTP server, which can listen on one only. */
import { createServer, type Server, type Socket } from 'node:net';

/**
 * Passes connections at further addresses on to a server.
 * @param port the server's own, so that all addresses have the same
 * @returns stops listening; open connections belong to the server, which ends them
 * @throws Error of the system for an address that cannot be used; none is open then
 */
export async function listenFurther(server: Server, hosts: readonly string[], port: number): Promise<() => void> {
  const listeners: Server[] = [];
  const close = (): void => {
    for (const listener of listeners) listener.close();
  };
  try {
    for (const host of hosts) {
      const listener = createServer((socket: Socket) => server.emit('connection', socket));
      await new Promise<void>((resolve, reject) => {
        listener.once('error', reject);
        // The IPv4 addresses of `::` have a listener of their own.
        listener.listen({ host, port, ipv6Only: true }, resolve);
      });
      listener.on('error', () => undefined);
      listeners.push(listener);
    }
  } catch (error) {
    close();
    throw error;
  }
  return close;
}

/** The port that a listening server has. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
