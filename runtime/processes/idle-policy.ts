/** Runs processes under Linux's SCHED_IDLE. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Order } from './nursery-messages.ts';
import type { RunProgram } from './programs.ts';

const CHRT_MS = 10_000;
/** capabilities(7) */
const CAP_SYS_NICE = 1n << 23n;
/** setrlimit(2), RLIMIT_NICE: a process may lower its nice value to this number minus the limit. */
const NICE_CEILING = 20;

/**
 * True when this process may return another one from SCHED_IDLE to the ordinary scheduling policy (Linux; sched(7):
 * requires CAP_SYS_NICE, or RLIMIT_NICE that permits the other's nice value).
 * @param nice of the other process
 * @param read replaces reading a file of /proc/self
 */
export function mayEndIdlePolicy(nice: number, read: (name: string) => string = readOwn): boolean {
  if (process.platform !== 'linux') return false;
  const capabilities = /^CapEff:\s*(\S+)/m.exec(read('status'))?.[1];
  if ((BigInt(`0x${capabilities ?? 0}`) & CAP_SYS_NICE) !== 0n) return true;
  const limit = /^Max nice priority\s+(\S+)/m.exec(read('limits'))?.[1];
  return limit !== undefined && Number(limit) >= NICE_CEILING - nice;
}

/**
 * Moves a process with all its threads to SCHED_IDLE, whose threads are preempted at once by all others, or back to the
 * ordinary policy, by chrt(1) of util-linux. No effect when chrt is missing or not permitted.
 * @param run starts programs
 */
export async function setIdlePolicy(run: RunProgram, pid: number, idle: boolean): Promise<void> {
  const args = ['--all-tasks', idle ? '--idle' : '--other', '--pid', '0', String(pid)];
  const work = { program: 'chrt', args, input: '', maxBytes: 65_536, timeoutMs: CHRT_MS };
  await run(work, new AbortController().signal);
}

/** Removes even the variables that some shells set. */
const FROM_THE_BEGINNING = 'chrt --all-tasks --idle --pid 0 $$ 2>/dev/null; exec env -i "$0" "$@"';

/**
 * A process under SCHED_IDLE from its start, without an environment. Without chrt(1) of util-linux, it has the ordinary
 * policy.
 */
export function idleOrder(order: Omit<Order, 'env'>): Order {
  return { ...order, program: '/bin/sh', args: ['-c', FROM_THE_BEGINNING, order.program, ...order.args] };
}

function readOwn(name: string): string {
  return readFileSync(`/proc/self/${name}`, 'utf8');
}
