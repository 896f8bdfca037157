/** Sends commands to the media server in single packets. */
import type { Socket } from 'node:net';

/**
 * Makes a socket send each command whole and immediately. drachtio-modesl writes a command in pieces; without
 * TCP_NODELAY each may wait some 40 ms for a delayed ACK, and with it each would be a separate packet.
 */
export function sendWhole(socket: Socket): void {
  socket.setNoDelay(true);
  const write = socket.write.bind(socket) as (...args: Parameters<Socket['write']>) => boolean;
  let corked = false;
  socket.write = ((...args: Parameters<Socket['write']>) => {
    if (!corked) {
      corked = true;
      socket.cork();
      process.nextTick(() => {
        corked = false;
        socket.uncork();
      });
    }
    return write(...args);
  }) as Socket['write'];
}
