/** A thread that works, leaves garbage, and rests: it tells its owner what its heap took before and after. */
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { giveBackAtRest } from '../../runtime/memory/index.ts';

// Its owner ends it.
parentPort?.ref();
let works = true;
const looked = Promise.withResolvers<void>();
giveBackAtRest(
  () => {
    looked.resolve();
    return works;
  },
  { afterStartMs: 0, afterWorkMs: 0 },
);
let garbage: object[] | undefined = Array.from({ length: 1e6 }, (_, index) => ({ index }));
const first = new WeakRef(garbage[0] as object);
await looked.promise;
const before = process.memoryUsage().heapTotal;
garbage = undefined;
works = false;
while (first.deref() !== undefined) await delay(100);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- it goes to a thread, not to a window
parentPort?.postMessage({ before, after: process.memoryUsage().heapTotal });
