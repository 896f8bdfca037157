import { readdirSync, readFileSync } from 'node:fs';

/** The living child processes of a process (proc(5)). */
export function childrenOf(pid: number): number[] {
  return threadsOf(pid)
    .flatMap((thread) => read(`${pid}/task/${thread}/children`).split(' '))
    .map(Number)
    .filter((child) => child > 0);
}

/** Processes of a node that run scripts, started by its small helper process. */
export function scriptProcessesOf(nodePid: number): number[] {
  return childrenOf(nodePid)
    .flatMap(childrenOf)
    .filter((pid) => read(`${pid}/cmdline`).includes('sandbox/worker'));
}

/** The processors that a process may use, as Linux lists them (`0-3`). */
export function processorsOf(pid: number | 'self'): string {
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(read(`${pid}/status`))?.[1] ?? '';
}

function threadsOf(pid: number): string[] {
  return unlessGone(() => readdirSync(`/proc/${pid}/task`), []);
}

function read(name: string): string {
  return unlessGone(() => readFileSync(`/proc/${name}`, 'utf8'), '');
}

/** `gone` for a process or thread that has ended since it was listed. */
function unlessGone<T>(look: () => T, gone: T): T {
  try {
    return look();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH'].includes(code)) return gone;
    throw error;
  }
}
