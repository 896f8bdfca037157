/** Gives script processes the lowest priority. */
import { readdir, writeFile } from 'node:fs/promises';
import os from 'node:os';

/**
 * Puts a process behind all others: scripts use the processor time left by calls, and the kernel ends them first when
 * memory runs out. On other systems than Linux, as far as supported.
 * @param nice 0 to 19, see setpriority(2)
 */
export async function putInBackground(pid: number, nice: number): Promise<void> {
  yieldProcessor(pid, nice);
  if (process.platform !== 'linux') return;
  // On Linux each thread has its own priority, inherited from the thread that creates it.
  const threads = await readdir(`/proc/${pid}/task`);
  for (const thread of threads) yieldProcessor(Number(thread), nice);
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000');
}

/**
 * Lowers the priority.
 * @param id of a process or, on Linux, a thread; an ended one is ignored
 * @param nice 0 to 19, see setpriority(2)
 */
function yieldProcessor(id: number, nice: number): void {
  try {
    // Only root may raise it again.
    if (os.getPriority(id) < nice) os.setPriority(id, nice);
  } catch (error) {
    if ((error as NodeJS.ErrnoException & { info?: { code?: string } }).info?.code !== 'ESRCH') throw error;
  }
}
