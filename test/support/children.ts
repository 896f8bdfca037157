import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process has started and that are there (proc(5)). */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => childrenOfThread(`/proc/${pid}/task/${thread}/children`))
    .map(Number)
    .filter((child) => child > 0);
}

/** Processes of a node that run scripts; a small process has started them. */
export function scriptProcessesOf(nodePid: number): number[] {
  return childrenOf(nodePid)
    .flatMap(childrenOf)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sandbox/worker'));
}

/** The processors that a process may use, as Linux lists them (`0-3`). */
export function processorsOf(pid: number | 'self'): string {
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
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
