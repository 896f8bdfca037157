import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { FsConnection } from 'drachtio-fsmrf';
import { followExecutions, subscribeOnDemand } from '../../runtime/media/channel-events.ts';
import { eventually } from '../support/eventually.ts';

const require = createRequire(import.meta.url);
/** The library's connection of a channel. */
const { Connection } = require('drachtio-modesl') as { Connection: new (socket: Socket) => FsConnection };

const CHANNEL = 'Content-Type: command/reply\nEvent-Name: CHANNEL_DATA\nUnique-ID: 9a9f\n\n';
const REPLY = 'Content-Type: command/reply\nReply-Text: +OK\n\n';

/** A channel's connection, and the first lines of the commands that the media server gets on it. */
async function opened(): Promise<{ connection: FsConnection; commands: string[]; close(): void }> {
  const commands: string[] = [];
  const listener = createServer((socket) => {
    let text = '';
    socket.on('data', (piece) => {
      text += String(piece);
      const whole = text.split('\n\n');
      text = whole.pop() ?? '';
      for (const command of whole) {
        commands.push(command.split('\n')[0] ?? '');
        socket.write(command === 'connect' ? CHANNEL : REPLY);
      }
    });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new Connection(socket);
  subscribeOnDemand(connection);
  await new Promise<void>((resolve) => connection.on('esl::ready', () => resolve()));
  const close = () => {
    socket.destroy();
    listener.close();
  };
  return { connection, commands, close };
}

describe('media: the events of a channel', () => {
  it('are digits, and executions from the first application on', async () => {
    const { connection, commands, close } = await opened();
    try {
      await new Promise<void>((resolve) => connection.subscribe('CHANNEL_CALLSTATE PLAYBACK_START', resolve));
      connection.execute('playback', 'a.wav');
      connection.execute('playback', 'b.wav');
      await followExecutions(connection);
      connection.subscribe(['CUSTOM conference::maintenance']);
      await eventually(async () =>
        expect(commands).to.deep.equal([
          'connect',
          'event json DTMF',
          'event json CHANNEL_EXECUTE CHANNEL_EXECUTE_COMPLETE',
          'sendmsg 9a9f',
          'sendmsg 9a9f',
          'event json CUSTOM conference::maintenance',
        ]),
      );
    } finally {
      close();
    }
  });

  it('can be followed on a connection that has ended', async () => {
    await followExecutions(null);
  });
});
