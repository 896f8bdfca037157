import { readdirSync, readFileSync } from 'node:fs';

/** The processes that a process has started and that are there (proc(5)). */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .map(Number)
    .filter((child) => child > 0);
}
