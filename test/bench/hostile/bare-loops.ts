import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import process from 'node:process';

/**
 * Processes that only compute, one for each processor, with the same low priority as script processes: the cost of any load
 * on this machine to the listeners.
 */
export const BareLoops = {
  /** Runs `work` while they compute. */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    const loops = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
    for (const { pid } of loops) if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    try {
      return await work();
    } finally {
      const gone = loops.map((loop) => once(loop, 'exit'));
      for (const loop of loops) loop.kill('SIGKILL');
      await Promise.all(gone);
    }
  },
};
