/** The node's log: JSON lines, or readable lines on a terminal. */
import process from 'node:process';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { tracing } from '../tracing/index.ts';

export interface NodeLog {
  readonly log: Logger;
  /** Writes lines that wait for the ready message. Later lines are written at once. */
  readonly show: () => void;
}

/** Milliseconds for which lines wait: a start that takes longer shows what it does. */
const WAIT_MS = 20_000;
/** Lines of this level do not wait. */
const WARN = 40;

/**
 * Opens the log. A readable log begins after the ready message; a warning ends the wait. JSON lines are
 * written by a thread of Node, so that a reader that stands still delays no call; those that wait are written when the process ends.
 */
export async function openLog({ logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Promise<NodeLog> {
  const { stdout } = process;
  const isTerminal = stdout.isTTY;
  if (!(logFormat === 'pretty' || (logFormat === '' && isTerminal)))
    return { log: pino({ level: logLevel, ...traceIds() }), show: () => undefined };
  const { prettyFactory } = await import('pino-pretty');
  const colorize = isTerminal && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname', singleLine: true });
  const lines = new WaitingLines((line) => stdout.write(format(line)));
  return { log: pino({ level: logLevel, ...traceIds() }, lines), show: () => lines.show() };
}

/** Fields of log lines that name a call, the surest first. */
const NAMES = ['callid', 'dialogid', 'operation'] as const;

/**
 * A log that adds the id of the call, as the field `call`, to the lines with an id of its legs, its dialog or its operation.
 */
export function withCallIds(log: Logger, callIds: { of(id: string): string | undefined }): Logger {
  const callOf = (fields: object & Partial<Record<(typeof NAMES)[number], unknown>>): string | undefined => {
    for (const name of NAMES) {
      const { [name]: id } = fields;
      const call = typeof id === 'string' ? callIds.of(id) : undefined;
      if (call !== undefined) return call;
    }
    return undefined;
  };
  const add = (fields: object): object => {
    if ('call' in fields) return fields;
    const call = callOf(fields);
    return call === undefined ? fields : { call, ...fields };
  };
  return log.child({}, { formatters: { log: add } });
}

/** The ids of the current span on each line. */
function traceIds(): Pick<LoggerOptions, 'mixin'> {
  const traces = tracing();
  if (traces === undefined) return {};
  return {
    mixin: () => {
      const { current } = traces;
      return current === undefined ? {} : { trace_id: current.traceId, span_id: current.spanId };
    },
  };
}

/** Holds lines back until `show`, a warning, or a time limit. */
class WaitingLines implements DestinationStream {
  readonly #print: (line: string) => void;
  readonly #timer = setTimeout(() => this.show(), WAIT_MS).unref();
  #waiting: string[] | undefined = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  write(line: string): void {
    if (this.#waiting === undefined) return this.#print(line);
    this.#waiting.push(line);
    if (Number(/"level":(\d+)/.exec(line)?.[1]) >= WARN) this.show();
  }

  show(): void {
    clearTimeout(this.#timer);
    const lines = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const line of lines) this.#print(line);
  }
}
