import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SipLink } from '../../runtime/signalling/link.ts';
import { silentLog } from '../support/log.ts';

describe('a link to a SIP server', () => {
  it('survives a message cut off by its close', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.once('data', (data: Buffer) => {
        const [, id = ''] = /^\d+#([^|]+)\|authenticate/.exec(data.toString()) ?? [];
        const frame = `answer|response|${id}|OK|udp/127.0.0.1:5060`;
        // With it, in one piece, the beginning of a message.
        socket.write(`${frame.length}#${frame}30#begun`);
        accepted.resolve(socket);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const handlers = {} as Parameters<typeof SipLink.connect>[1];
    const link = await SipLink.connect({ host: '127.0.0.1', port, secret: 's' }, handlers, silentLog);
    const socket = await accepted.promise;
    try {
      socket.resume();
      const closed = once(socket, 'close');
      link.close();
      await once(socket, 'end');
      socket.end(' and # ended, without a length');
      await closed;
    } finally {
      socket.destroy();
      server.close();
    }
  });
});
