import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { giveBackAtRest } from '../../memory/index.ts';
import { ListenError } from '../server.ts';
import { MediaServer } from './media-server.ts';
import type { MediaServerOptions } from './options.ts';
import type { FromThread, ToThread } from './thread-messages.ts';
import { ThreadPrograms } from './thread-programs.ts';

/** How much nicer the rest of the process is; FreeSWITCH runs its media threads at real-time priority where it may. */
const AHEAD = 10;

/**
 * Raises the priority of this thread (on Linux the call is for the calling thread only) above that of the others, whatever
 * the process was started with, where the system lets it.
 */
function preferThisThread(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.max(constants.priority.PRIORITY_HIGHEST, getPriority() - AHEAD));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_SYSTEM_ERROR') throw error; // EACCES or EPERM: an ordinary user keeps the ordinary priority
  }
}

/** The media thread: runs one media server and answers its owner. */
async function run(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('the media thread must be started as a worker');
  const tell = (message: FromThread): void => port.postMessage(message);
  const options = workerData as MediaServerOptions;
  const programs = new ThreadPrograms(tell);
  preferThisThread();
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
  giveBackAtRest(() => server.stats().channels > 0);
  tell({ type: 'listening', addresses: server.addresses });
}

await run();
