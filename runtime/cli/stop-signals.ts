/** The signals that end a node: the first lets its calls end, the second does not. */
import process from 'node:process';
import type { Node } from '../node/index.ts';
import { STOP_SIGNALS } from './signals.ts';

/** Milliseconds in which signals are copies of one: see STOP_SIGNALS. */
const COPIES_MS = 1000;

/**
 * Drains the node at the first signal, and ends it at the second one.
 * @param drainMs 0: the first one ends it too
 */
export function onStopSignals(drain: Node['drain'], drainMs: number, end: () => void): void {
  let first: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    // A cancelled drain makes the next signal the first one.
    if (drain.state.state === 'accepting') first = undefined;
    if (drainMs === 0) end();
    else if (first === undefined) {
      first = performance.now();
      drain.begin(drainMs);
    }
    // SIGHUP says that the starter of the node is gone. npm may end after it passed on the first signal.
    else if (signal !== 'SIGHUP' && performance.now() - first >= COPIES_MS) end();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
}
