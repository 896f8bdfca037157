/** Tells systemd how the node is (sd_notify(3)). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import type { RunProgram } from '../processes/index.ts';
import { counted } from '../words/index.ts';
import type { Drain } from './drain.ts';

/** Sends a datagram to a service manager, which Node.js cannot: its Unix sockets are streams. It is part of systemd. */
const PROGRAM = 'systemd-notify';
/** Milliseconds for the service manager to read a message. */
const PATIENCE_MS = 5000;
/** Milliseconds between two reports of a draining node, and how much longer each lets it live. */
const REPORT_MS = 5000;
const EXTENSION_MS = 30_000;
/** Milliseconds that the end of the node waits for its report: the helper that sends it ends with the node. */
const LAST_REPORT_MS = 2000;

export interface ServiceManagerNeeds {
  readonly config: Pick<Config, 'serviceManager'>;
  readonly drain: Pick<Drain, 'state' | 'onChange'>;
  readonly run: RunProgram;
  readonly log: Logger;
}

/**
 * Reports to the service manager, if one listens: that the node is ready, how many calls keep a draining node up, and, for
 * the watchdog, that the event loop turns.
 * @returns reports the end of the node
 */
export function openServiceManager({ config, drain, run, log }: ServiceManagerNeeds): () => Promise<void> {
  const { notifySocket, watchdogMs } = config.serviceManager;
  if (notifySocket === undefined) return async () => undefined;
  const never = new AbortController().signal;
  const env = { NOTIFY_SOCKET: notifySocket };
  let last: Promise<void> = Promise.resolve();
  const send = (...args: readonly string[]): void => {
    last = last.then(async () => {
      const work = { program: PROGRAM, args, env, input: '', maxBytes: 1000, timeoutMs: PATIENCE_MS };
      if ((await run(work, never)) === undefined) log.warn({ args }, `${PROGRAM} failed: is it installed?`);
    });
  };
  const report = (): void => {
    const { state, calls, runs } = drain.state;
    if (state !== 'draining') return;
    const left = `${counted(calls, 'call')} and ${counted(runs, 'run')} left`;
    send(`EXTEND_TIMEOUT_USEC=${EXTENSION_MS * 1000}`, `STATUS=Draining, ${left}`);
  };
  drain.onChange(() => {
    if (drain.state.state === 'accepting') send('STATUS=Accepting calls');
    else report();
  });
  send('READY=1', 'STATUS=Accepting calls');
  setInterval(report, REPORT_MS).unref();
  // Also while the node ends.
  if (watchdogMs !== undefined) setInterval(() => send('WATCHDOG=1'), watchdogMs / 2).unref();
  return async () => {
    send('STOPPING=1', `EXTEND_TIMEOUT_USEC=${EXTENSION_MS * 1000}`, 'STATUS=Ending');
    await Promise.race([last, delay(LAST_REPORT_MS, undefined, { ref: false })]);
  };
}
