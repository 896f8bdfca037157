/** Restricts processes to processors. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { RunProgram } from './programs.ts';

const TASKSET_MS = 10_000;

/** The processors available to this process in Linux's notation (`0-3,8`; proc(5), `status`). Undefined elsewhere. */
export function allowedProcessors(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
}

/** The processor numbers in a list. @param list in Linux's notation, e.g. `0-3,8` */
export function processorsIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/**
 * The list without its first processor. @param list in Linux's notation, e.g. `0-3,8` @returns undefined for a single
 * processor
 */
export function withoutFirstProcessor(list: string): string | undefined {
  const [first = '', ...others] = list.split(',');
  const [from = 0, to = from] = first.split('-').map(Number);
  if (to > from) others.unshift(to === from + 1 ? String(to) : `${from + 1}-${to}`);
  return others.length === 0 ? undefined : others.join(',');
}

/**
 * Restricts a process with all its threads to some processors, by taskset(1) of util-linux. No effect when taskset is
 * missing or not permitted.
 * @param run starts programs
 * @param processors in Linux's notation, e.g. `1-3,8`
 */
export async function keepTo(run: RunProgram, pid: number, processors: string): Promise<void> {
  const args = ['-a', '-p', '-c', processors, String(pid)];
  const work = { program: 'taskset', args, input: '', maxBytes: 65_536, timeoutMs: TASKSET_MS };
  await run(work, new AbortController().signal);
}
