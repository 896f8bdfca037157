import process from 'node:process';

/** Ends a process at once; one that is gone already needs nothing. @param group with all that it has started */
export function killProcess(pid: number, group: boolean): void {
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
