import { hostname } from 'node:os';
import type { Config } from '../config/index.ts';

/** Name of a node: the same after a restart, and another one for each node of a machine. */
export function nodeName({ dataDir }: Pick<Config, 'dataDir'>): string {
  return `${hostname()}:${dataDir}`;
}
