import { parentPort, workerData } from 'node:worker_threads';
import { ListenError } from '../server.ts';
import { MediaServer } from './media-server.ts';
import type { MediaServerOptions } from './options.ts';
import type { FromThread, ToThread } from './thread-messages.ts';

/** The media thread: runs one media server and answers its owner. */
async function run(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('the media thread must be started as a worker');
  const tell = (message: FromThread): void => port.postMessage(message);
  const options = workerData as MediaServerOptions;
  let server: MediaServer;
  try {
    server = new MediaServer(options);
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
    else {
      void server.close().then(() => {
        tell({ type: 'closed' });
        port.close();
      });
    }
  });
  tell({ type: 'listening', addresses: server.addresses });
}

await run();
