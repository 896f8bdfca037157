/** What a service manager tells the processes that it starts. */

/** Milliseconds. */
const DRAIN_UNDER_SERVICE_MANAGER = 600_000;

/**
 * The time that calls have to end by themselves after SIGTERM, without a setting: 10 minutes under a service manager, else
 * none. A shell in a graphical session has systemd's INVOCATION_ID too, therefore a terminal is looked at first.
 * @returns milliseconds
 */
export function defaultDrainMs(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): number {
  const isService = isSet(env['NOTIFY_SOCKET']) || (isSet(env['INVOCATION_ID']) && !isTerminal);
  return isService ? DRAIN_UNDER_SERVICE_MANAGER : 0;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
