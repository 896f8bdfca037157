import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process has started and that are there (proc(5)). */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => childrenOfThread(`/proc/${pid}/task/${thread}/children`))
    .map(Number)
    .filter((child) => child > 0);
}

/** A thread may have ended since it was listed. */
function childrenOfThread(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(' ');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH'].includes(code)) return [];
    throw error;
  }
}
