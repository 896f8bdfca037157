import { readFileSync } from 'node:fs';

/** Clock ticks a second of /proc: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time that a process and all its threads have used so far, milliseconds in steps of 10 (Linux; proc(5), `stat`).
 * @returns undefined: it is gone
 */
export function processorTime(pid: number): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  // The command's name stands in brackets and may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return milliseconds(Number(fields[11]) + Number(fields[12]));
}

/**
 * How long processors have had nothing to do so far, all together, milliseconds in steps of 10 (Linux; proc(5), `/proc/stat`).
 * @param processors their numbers
 */
export function idleTime(processors: readonly number[]): number {
  const numbers = new Set(processors);
  let ticks = 0;
  for (const [, number, idle, waiting] of readFileSync('/proc/stat', 'utf8').matchAll(PROCESSOR)) {
    if (numbers.has(Number(number))) ticks += Number(idle) + Number(waiting);
  }
  return milliseconds(ticks);
}

/** user, nice, system, idle, and idle while a disk is at work. */
const PROCESSOR = /^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)/gm;

function milliseconds(ticks: number): number {
  return (ticks * 1000) / TICKS_PER_SECOND;
}
