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

export const SCHED_OTHER = '0';
export const SCHED_IDLE = '5';

/** The scheduling policies of all threads of a process (proc(5), `stat`). */
export function policiesOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY] ?? '';
  });
}

/** Field 41; the second is the name, and may hold blanks. */
const POLICY = 41 - 3;

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
