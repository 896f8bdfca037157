/**
 * Signals for an orderly stop of a server. Each may come twice: Ctrl-C reaches the whole process group, and npm and the
 * launcher pass it on as well.
 */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
