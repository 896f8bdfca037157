/** The logger of runs; pino loggers fit. Digits of a caller are never logged. */
export interface Log {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

/** A silent logger. */
export const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A log whose lines name the leg of a call, so that they are found among those of the call. */
export function ofLeg(log: Log, callid: string): Log {
  return {
    debug: (data, message) => log.debug({ callid, ...data }, message),
    info: (data, message) => log.info({ callid, ...data }, message),
    warn: (data, message) => log.warn({ callid, ...data }, message),
    error: (data, message) => log.error({ callid, ...data }, message),
  };
}
