import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import esl from 'drachtio-modesl';
import { sendCommandsWhole } from '../../runtime/media/whole-writes.ts';

interface Connection {
  readonly socket: Socket;
  disconnect(): void;
}

const { Connection } = esl as unknown as {
  readonly Connection: new (host: string, port: number, password: string, ready: () => void) => Connection;
};

describe('commands to a media server', () => {
  sendCommandsWhole();

  it('are written in one piece from the first one, which logs in', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const connection = new Connection('127.0.0.1', (server.address() as AddressInfo).port, 'secret', () => undefined);
    const single: string[] = [];
    const { socket: own } = connection;
    const { _write: write } = own;
    Object.assign(own, {
      _write(...args: Parameters<typeof write>): void {
        single.push(String(args[0]));
        write.apply(own, args);
      },
    });
    const [socket] = await accepted;
    try {
      socket.write('Content-Type: auth/request\n\n');
      const [packet] = (await once(socket, 'data')) as [Buffer];
      expect(packet.toString()).to.equal('auth secret\n\n');
      expect(single).to.deep.equal([]);
    } finally {
      connection.disconnect();
      socket.destroy();
      server.close();
    }
  });
});
