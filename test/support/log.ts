/** Logs for tests. */
import { type Log, SILENT } from '../../runtime/runs/log.ts';

/** A log without output. */
export const silentLog: Log = SILENT;

/** A log that stores its entries: level and message. */
export function keepingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`);
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}
