/**
 * Loaded into every thread of a node under test (`--import`): on SIGUSR2 each collects its garbage, all of it, and gives back
 * what was garbage, as `node --inspect` does when a debugger asks for it. What is resident then is what the node keeps; before,
 * it depends on when V8 looked last.
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
