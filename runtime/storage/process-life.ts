/** Whether another process on this machine lives, and when it started. */
import { readdirSync, readFileSync } from 'node:fs';

/** `ending`: killed, but some of its threads have not ended yet and may still write. */
export type Life = 'alive' | 'ending' | 'dead';

/** States of an ended thread (proc(5)): zombie, dead. */
const ENDED = ['Z', 'X', 'x'];

/**
 * A killed process that its parent does not wait for stays a zombie: it has a pid and answers `kill(pid, 0)`, but no longer
 * runs. Containers whose first process does not reap orphans collect them. Without /proc a zombie counts as alive.
 */
export function lifeOf(pid: number): Life {
  if (!exists(pid)) return 'dead';
  const state = statOf(`${pid}`)?.[0];
  if (state === undefined || !ENDED.includes(state)) return 'alive';
  return threadsOf(pid).some((thread) => runs(pid, thread)) ? 'ending' : 'dead';
}

/** Clock ticks from boot to the start of a process (field 22); undefined without /proc, or when the process has ended. */
export function startOf(pid: number): string | undefined {
  return statOf(`${pid}`)?.[19];
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function runs(pid: number, thread: string): boolean {
  const state = statOf(`${pid}/task/${thread}`)?.[0];
  return state !== undefined && !ENDED.includes(state);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // Reaped meanwhile.
    return [];
  }
}

/** The fields of a stat file from the third on, the state: the command before them may contain spaces and brackets. */
function statOf(name: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // Not Linux, or it has ended.
    return undefined;
  }
}
