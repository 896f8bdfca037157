/** Reads processor times from /proc. */
import { readFileSync } from 'node:fs';

/** Clock ticks per second of /proc: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time used by a process and all its threads, milliseconds in steps of 10 (Linux; proc(5), `stat`).
 * @returns undefined when the process has ended
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
  // The command's name is in brackets and may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return milliseconds(Number(fields[11]) + Number(fields[12]));
}

/** Idle time of each processor by number, milliseconds in steps of 10 (Linux; proc(5), `/proc/stat`). */
export function idleTimes(): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const [, processor, idle, waiting] of readFileSync('/proc/stat', 'utf8').matchAll(PROCESSOR))
    times.set(Number(processor), milliseconds(Number(idle) + Number(waiting)));
  return times;
}

/** user, nice, system, idle, and iowait. */
const PROCESSOR = /^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)/gm;

function milliseconds(ticks: number): number {
  return (ticks * 1000) / TICKS_PER_SECOND;
}
