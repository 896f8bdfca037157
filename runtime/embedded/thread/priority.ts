/** Priority of a server's thread. */
import { readFileSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import process from 'node:process';
import type { RunProgram } from './run-program.ts';

/** Difference of the nice value to the rest of the process. */
const AHEAD = 10;
/** The lowest real-time priority: ahead of all ordinary threads, behind threads with a priority set on purpose. */
const REAL_TIME = '1';
const CHRT_MS = 10_000;
/** SCHED_OTHER. */
const ORDINARY = '0';
/** Index of the policy after the name in /proc/[pid]/stat (proc(5), field 41; the name, field 2, may hold blanks). */
const POLICY = 41 - 3;

/**
 * Gives the calling thread precedence over the other threads of the process (Linux only): real-time priority, like
 * FreeSWITCH's media threads, or else a lower nice value. The nice value alone is weaker: some kernels do not interrupt
 * a thread that has just started, and a media thread then waits 6 to 13 ms while scripts use all processors.
 * @param run starts programs
 */
export async function preferThisThread(run: RunProgram): Promise<void> {
  if (process.platform !== 'linux') return;
  beLessNice();
  const thread = basename(readlinkSync('/proc/thread-self'));
  // Another policy was set when the node was started; it stays.
  if (policyOf(thread) !== ORDINARY) return;
  const args = ['--rr', '--pid', REAL_TIME, thread];
  // chrt is part of util-linux. If it is missing or not allowed (RLIMIT_RTPRIO), the nice value remains.
  await run({ program: 'chrt', args, input: '', maxBytes: 1024, timeoutMs: CHRT_MS }, new AbortController().signal);
}

/** On Linux `setPriority` changes the calling thread only. */
function beLessNice(): void {
  try {
    setPriority(Math.max(constants.priority.PRIORITY_HIGHEST, getPriority() - AHEAD));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_SYSTEM_ERROR') throw error; // EACCES or EPERM: an ordinary user keeps the ordinary priority
  }
}

function policyOf(thread: string): string | undefined {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY];
}
