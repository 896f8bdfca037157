/**
 * Signals that stop a server in order. Each may come twice: Ctrl-C reaches the whole group of processes, and npm and the
 * launcher pass it on as well.
 */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
