import { readdir, writeFile } from 'node:fs/promises';
import os from 'node:os';

/**
 * Puts a process behind all others: scripts get the processor when calls leave some, and when memory runs out the kernel
 * ends them first. On systems other than Linux, as far as it goes.
 * @param nice 0 to 19, see setpriority(2)
 */
export async function putInBackground(pid: number, nice: number): Promise<void> {
  yieldProcessor(pid, nice);
  if (process.platform !== 'linux') return;
  // On Linux each thread has its own priority; those made later take that of their maker.
  const threads = await readdir(`/proc/${pid}/task`);
  for (const thread of threads) yieldProcessor(Number(thread), nice);
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000');
}

/**
 * Lets others have the processor first.
 * @param id of a process or, on Linux, a thread; one that is gone by now needs nothing
 * @param nice 0 to 19, see setpriority(2)
 */
function yieldProcessor(id: number, nice: number): void {
  try {
    // Only the system's administrator may raise it again.
    if (os.getPriority(id) < nice) os.setPriority(id, nice);
  } catch (error) {
    if ((error as NodeJS.ErrnoException & { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
  }
}
