/** Restricts processes to processors. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { Order } from './nursery-messages.ts';

/** The processors available to this process in Linux's notation (`0-3,8`; proc(5), `status`). Undefined elsewhere. */
export function allowedProcessors(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
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

/** Removes even the variables that some shells set. */
const ON_PROCESSORS = 'taskset --cpu-list --pid "$0" $$ >/dev/null 2>&1; exec env -i "$@"';

/**
 * A process that keeps off the first of the node's processors, by taskset(1) of util-linux, and has no environment. It
 * may use all of them with a single processor, without taskset, and on other systems than Linux.
 */
export function offFirstProcessor(order: Omit<Order, 'env'>): Order {
  const left = withoutFirstProcessor(allowedProcessors() ?? '');
  if (left === undefined) return order;
  return { ...order, program: '/bin/sh', args: ['-c', ON_PROCESSORS, left, order.program, ...order.args] };
}
