/** Kills processes. */
import process from 'node:process';

/** Kills a process; an ended one is ignored. @param group true: with all its descendants */
export function killProcess(pid: number, group: boolean): void {
  try {
    process.kill(group ? -pid : pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
