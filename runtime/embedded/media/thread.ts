import { parentPort, workerData } from 'node:worker_threads';
import { giveBackAtRest } from '../../memory/index.ts';
import { ListenError } from '../server.ts';
import { MediaServer } from './media-server.ts';
import type { MediaServerOptions } from './options.ts';
import type { FromThread, ToThread } from './thread-messages.ts';
import { preferThisThread } from './thread-priority.ts';
import { ThreadPrograms } from './thread-programs.ts';

/** The media thread: runs one media server and answers its owner. */
async function run(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('the media thread must be started as a worker');
  const tell = (message: FromThread): void => port.postMessage(message);
  const options = workerData as MediaServerOptions;
  const programs = new ThreadPrograms(tell);
  let server: MediaServer;
  try {
    server = new MediaServer(options, programs.run);
    await server.start(options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name, message } = error;
    const listen = error instanceof ListenError ? { code: error.code, address: error.address } : {};
    tell({ type: 'failed', error: { name, message, ...listen } });
    port.close();
    return;
  }
  port.on('message', (message: ToThread) => {
    if (message.type === 'stats') tell({ type: 'stats', id: message.id, stats: server.stats() });
    else if (message.type === 'ran') programs.ran(message.id, message.output);
    else {
      void server.close().then(() => {
        tell({ type: 'closed' });
        port.close();
      });
    }
  });
  void preferThisThread(programs.run);
  giveBackAtRest(() => server.stats().channels > 0);
  tell({ type: 'listening', addresses: server.addresses });
}

await run();
