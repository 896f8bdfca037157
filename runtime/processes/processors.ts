import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { RunProgram } from './programs.ts';

const TASKSET_MS = 10_000;

/** The processors that this process may use, as Linux lists them (`0-3,8`; proc(5), `status`). Elsewhere undefined. */
export function allowedProcessors(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
}

/** The numbers of the processors of a list. @param list as Linux writes it, e.g. `0-3,8` */
export function processorsIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** The list without its first processor. @param list as Linux writes it, e.g. `0-3,8` @returns undefined: there is no other */
export function withoutFirstProcessor(list: string): string | undefined {
  const [first = '', ...others] = list.split(',');
  const [from = 0, to = from] = first.split('-').map(Number);
  if (to > from) others.unshift(to === from + 1 ? String(to) : `${from + 1}-${to}`);
  return others.length === 0 ? undefined : others.join(',');
}

/**
 * Keeps a process with all its threads to some processors, by taskset(1) of util-linux. Where that is missing, or not allowed,
 * nothing changes.
 * @param run starts programs
 * @param processors as Linux lists them, e.g. `1-3,8`
 */
export async function keepTo(run: RunProgram, pid: number, processors: string): Promise<void> {
  const args = ['-a', '-p', '-c', processors, String(pid)];
  const work = { program: 'taskset', args, input: '', maxBytes: 65_536, timeoutMs: TASKSET_MS };
  await run(work, new AbortController().signal);
}
