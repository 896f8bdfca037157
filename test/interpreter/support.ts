import type { Log } from '../../runtime/interpreter/log.ts';

/** A log that keeps quiet. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
