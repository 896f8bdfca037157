import { readFileSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import process from 'node:process';
import type { RunProgram } from './run-program.ts';

/** How much nicer the rest of the process is. */
const AHEAD = 10;
/** The least of the real-time priorities: before all ordinary threads, behind whatever was given one on purpose. */
const REAL_TIME = '1';
const CHRT_MS = 10_000;
/** SCHED_OTHER, where /proc/[pid]/stat has the policy (proc(5), field 41; the second is the name, and may hold blanks). */
const ORDINARY = '0';
const POLICY = 41 - 3;

/**
 * Lets the calling thread have a processor before all others of the process, where the system lets it (Linux): at real-time
 * priority, as FreeSWITCH its own threads; else by a nice value below theirs. A kernel that does not interrupt what has just begun
 * keeps a thread waiting for 6 to 13 ms while scripts use both processors, however nice they are.
 * @param run starts programs
 */
export async function preferThisThread(run: RunProgram): Promise<void> {
  if (process.platform !== 'linux') return;
  beLessNice();
  const thread = basename(readlinkSync('/proc/thread-self'));
  // Whoever started the node so has decided.
  if (policyOf(thread) !== ORDINARY) return;
  const args = ['--rr', '--pid', REAL_TIME, thread];
  // Of util-linux. Where it is missing, or not allowed (RLIMIT_RTPRIO), the nice value remains.
  await run({ program: 'chrt', args, input: '', maxBytes: 1024, timeoutMs: CHRT_MS }, new AbortController().signal);
}

/** On Linux the call is for the calling thread only. */
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
