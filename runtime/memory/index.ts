import { Session } from 'node:inspector/promises';
import { memoryUsage } from 'node:process';
import { Rest } from './rest.ts';

/** This module, for threads of a room that does not import it. */
export const MEMORY_MODULE = new URL(import.meta.url);

const LOOK_MS = 1000;

/**
 * Lets the calling thread give back to the system what its calls have left on its heap, whenever it has been without work for a
 * while. V8 does so by itself only after a heap has grown by much, so that what a node takes at rest would depend on when it
 * looked last. A thread stands still for 50 to 200 ms meanwhile.
 * @param works whether somebody would be held up
 * @param restsMs milliseconds without work after which it is done; at most one of them in a second
 */
export function giveBackAtRest(works: () => boolean, restsMs?: readonly number[]): void {
  const rest = new Rest(() => memoryUsage().heapTotal, restsMs);
  const look = async (): Promise<void> => {
    if (!rest.look(performance.now(), works())) return;
    await collect();
    rest.gaveBack();
  };
  setInterval(() => void look(), LOOK_MS).unref();
}

/** All garbage, as when a debugger asks for it: the only way that needs no flag of V8. */
async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}
