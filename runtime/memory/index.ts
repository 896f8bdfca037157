/** Returns idle memory to the system. */
import { Session } from 'node:inspector/promises';
import { memoryUsage } from 'node:process';
import { Rest, type Rests } from './rest.ts';

/** This module, for threads of a room that does not import it. */
export const MEMORY_MODULE = new URL(import.meta.url);

const LOOK_MS = 1000;

/**
 * Lets the calling thread return unused heap to the system after a while without work. V8 does so only after a heap has
 * grown much, so the memory of an idle node would depend on its last collection. The thread blocks for 50 to 200 ms
 * meanwhile.
 * @param works true while the thread's work would be delayed
 * @param rests milliseconds without work before a collection; looked at once a second
 */
export function giveBackAtRest(works: () => boolean, rests?: Rests): void {
  const rest = new Rest(() => memoryUsage().heapTotal, rests);
  const look = async (): Promise<void> => {
    if (!rest.look(performance.now(), works())) return;
    await collect();
    rest.gaveBack();
  };
  setInterval(() => void look(), LOOK_MS).unref();
}

/** Collects all garbage through the inspector, the only way without a flag of V8. */
async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}
