import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import process from 'node:process';

/**
 * Processes that compute and do nothing else, one for each processor, as far behind the node as those of scripts: what any work
 * on this machine costs those who listen.
 */
export const BareLoops = {
  /** Does something while they are there. */
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
