import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Order } from './nursery-messages.ts';

/** Confines itself to `$0`, then becomes the program. Without taskset(1), or not allowed to, it may use all processors. */
const CONFINED = 'taskset -pc "$0" "$$" >/dev/null 2>&1; exec env -i "$@"';

/**
 * The processors that this process may use, but one, as Linux lists them (`1-3,8`). Undefined where there is only one, and on
 * other systems.
 * @param allowed stands in for what Linux says, e.g. `0-3`
 */
export function allButOneProcessor(allowed = allowedProcessors()): string | undefined {
  const [first = '', ...others] = allowed === '' ? [] : allowed.split(',');
  const [from = 0, to = from] = first.split('-').map(Number);
  if (to > from) others.unshift(to === from + 1 ? String(to) : `${from + 1}-${to}`);
  return others.length === 0 ? undefined : others.join(',');
}

/** See proc(5), `/proc/[pid]/status`. */
function allowedProcessors(): string {
  if (process.platform !== 'linux') return '';
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
}

/**
 * The same process without environment, on some processors only (Linux, with taskset(1)).
 * @param processors as Linux lists them, e.g. `1-3,8`
 */
export function confined({ program, args, ...order }: Omit<Order, 'env'>, processors: string): Order {
  return { ...order, program: '/bin/sh', args: ['-c', CONFINED, processors, program, ...args] };
}
