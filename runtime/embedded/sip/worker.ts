import { parentPort, workerData } from 'node:worker_threads';
import { giveBackAtRest } from '../../memory/index.ts';
import { ListenError } from '../server.ts';
import type { SipServerOptions } from './options.ts';
import { EmbeddedSipServer } from './server.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

/** Body of the SIP server's thread. */

const port = parentPort;
if (port === null) throw new Error('worker.ts runs only as a worker thread');
const post = (message: FromWorker): void => port.postMessage(message);

try {
  const server = await EmbeddedSipServer.open(workerData as SipServerOptions);
  port.on('message', (message: ToWorker) => {
    if (message.type === 'stats') post({ type: 'stats', id: message.id, stats: server.stats });
    else {
      void server.close().then(() => {
        post({ type: 'closed' });
        port.close();
      });
    }
  });
  giveBackAtRest(() => server.stats.dialogs > 0);
  post({ type: 'listening', addresses: server.addresses });
} catch (error) {
  if (error instanceof ListenError) {
    const { code, address, message } = error;
    post({ type: 'failed', code, address, what: message.slice(0, message.indexOf(':')), message });
  } else if (error instanceof RangeError) {
    post({ type: 'failed', code: '', address: '', what: '', message: error.message });
  } else throw error;
}
