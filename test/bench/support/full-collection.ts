/**
 * Loaded into every thread of a node under test (`--import`): on SIGUSR2 each thread collects and returns all of its garbage,
 * as `node --inspect` does for a debugger. The remaining resident memory is what the node keeps; otherwise it would
 * depend on the last collection of V8.
 */
import { Session } from 'node:inspector/promises';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const everyThread = new BroadcastChannel('full-collection');
everyThread.addEventListener('message', () => void collect());
everyThread.unref();

if (isMainThread) {
  process.on('SIGUSR2', () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it goes to threads, not to windows
    everyThread.postMessage(undefined);
    void collect();
  });
}

async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}
