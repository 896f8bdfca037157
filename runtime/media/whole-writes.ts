/** Sends commands to the media server in single packets. */
import type { Socket } from 'node:net';
import esl, { type EslConnection } from 'drachtio-modesl';

const { _onConnect: onConnect } = esl.Connection.prototype;

/** Makes every connection of drachtio-modesl, to the media server and from it, send each command whole and immediately. */
export function sendCommandsWhole(): void {
  Object.assign(esl.Connection.prototype, {
    _onConnect(this: EslConnection): void {
      sendWhole(this.socket);
      onConnect.call(this);
    },
  });
}

/**
 * drachtio-modesl writes a command in pieces. Without TCP_NODELAY each may wait some 40 ms for a delayed ACK, and with it each would be
 * a separate packet.
 */
function sendWhole(socket: Socket): void {
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
