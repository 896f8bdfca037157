/** A server in its worker thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { ListenError } from '../listen-error.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { ThreadPrograms } from './programs.ts';
import type { RunProgram } from './run-program.ts';

/** A server inside its worker thread. */
export interface ThreadServer<Stats extends object, Change extends object = never> {
  /** Bound addresses, by role. */
  readonly addresses: Readonly<Record<string, string>>;
  stats(): Stats;
  /** Whether calls are in progress, which a pause of the thread would disturb. */
  works(): boolean;
  /** Applies a change. */
  reconfigure?(change: Change): void;
  close(): Promise<void>;
}

/** Exports of the module {@link ServerHost.atRest}. */
interface AtRestModule {
  giveBackAtRest(works: () => boolean): void;
}

/**
 * Runs a server in its worker thread: opens it, and serves the handle's requests until the handle closes it.
 * @param open opens the server. Rejects with a ListenError, or with a RangeError for an invalid option. Its second
 *   argument runs programs, its third one reports an event for the log
 */
export async function serve<Options extends object, Stats extends object, Change extends object = never>(
  open: (
    options: Options,
    run: RunProgram,
    notice: (message: string, details: object) => void,
  ) => Promise<ThreadServer<Stats, Change>>,
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('an embedded server runs only as a worker thread');
  const tell = (message: FromThread<Stats>): void => port.postMessage(message);
  const { options, atRest } = workerData as ThreadData<Options>;
  const restModule = atRest === undefined ? undefined : ((await import(atRest)) as AtRestModule);
  const programs = new ThreadPrograms(tell);
  let server: ThreadServer<Stats, Change>;
  try {
    server = await open(options, programs.run, (message, details) => tell({ type: 'notice', message, details }));
  } catch (error) {
    if (!(error instanceof ListenError || error instanceof RangeError)) throw error;
    tell(failed(error));
    port.close();
    return;
  }
  port.on('message', (message: ToThread) => {
    if (message.type === 'stats') tell({ type: 'stats', id: message.id, stats: server.stats() });
    else if (message.type === 'ran') programs.ran(message.id, message.output);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by the handle of this server
    else if (message.type === 'reconfigure') server.reconfigure?.(message.change as Change);
    else void server.close().then(() => port.close());
  });
  restModule?.giveBackAtRest(() => server.works());
  tell({ type: 'listening', addresses: server.addresses });
}

function failed(error: Error): Extract<FromThread<never>, { type: 'failed' }> {
  const { name, message } = error;
  if (!(error instanceof ListenError)) return { type: 'failed', name, message };
  const { code, address, what } = error;
  return { type: 'failed', name, message, listen: { code, address, what } };
}
