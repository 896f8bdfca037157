import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Order } from './nursery-messages.ts';
import type { RunProgram } from './programs.ts';

const CHRT_MS = 10_000;
/** capabilities(7) */
const CAP_SYS_NICE = 1n << 23n;
/** setrlimit(2), RLIMIT_NICE: the nice value that a process may go down to is this one minus the limit. */
const NICE_CEILING = 20;

/**
 * Whether this process may give the ordinary scheduling policy back to one that it has put under SCHED_IDLE (Linux; sched(7):
 * it needs CAP_SYS_NICE, or RLIMIT_NICE that allows the other's nice value).
 * @param nice of the other process
 * @param read stands in for reading a file of /proc/self
 */
export function mayEndIdlePolicy(nice: number, read: (name: string) => string = readOwn): boolean {
  if (process.platform !== 'linux') return false;
  const capabilities = /^CapEff:\s*(\S+)/m.exec(read('status'))?.[1];
  if ((BigInt(`0x${capabilities ?? 0}`) & CAP_SYS_NICE) !== 0n) return true;
  const limit = /^Max nice priority\s+(\S+)/m.exec(read('limits'))?.[1];
  return limit !== undefined && Number(limit) >= NICE_CEILING - nice;
}

/**
 * Puts a process with all its threads under SCHED_IDLE, whose threads every other one interrupts at once, or back under the
 * ordinary policy, by chrt(1) of util-linux. Where that is missing, or not allowed, nothing changes.
 * @param run starts programs
 */
export async function setIdlePolicy(run: RunProgram, pid: number, idle: boolean): Promise<void> {
  const args = ['--all-tasks', idle ? '--idle' : '--other', '--pid', '0', String(pid)];
  const work = { program: 'chrt', args, input: '', maxBytes: 65_536, timeoutMs: CHRT_MS };
  await run(work, new AbortController().signal);
}

/** Its environment has not even what some shells put there. */
const FROM_THE_BEGINNING = 'chrt --all-tasks --idle --pid 0 $$ 2>/dev/null; exec env -i "$0" "$@"';

/**
 * A process that is under SCHED_IDLE from its beginning, without an environment. Where chrt(1) of util-linux is missing, it is under
 * the ordinary policy.
 */
export function idleOrder(order: Omit<Order, 'env'>): Order {
  return { ...order, program: '/bin/sh', args: ['-c', FROM_THE_BEGINNING, order.program, ...order.args] };
}

function readOwn(name: string): string {
  return readFileSync(`/proc/self/${name}`, 'utf8');
}
