/** Logs for tests. */
import { type Log, SILENT } from '../../runtime/runs/log.ts';

/** A log without output. */
export const silentLog: Log = SILENT;

/** A log that stores its entries: level and message as a line, and the fields. */
export function keepingLog(): Log & { readonly lines: string[]; readonly entries: object[] } {
  const lines: string[] = [];
  const entries: object[] = [];
  const keep = (level: string) => (fields: object, message: string) => {
    lines.push(`${level}: ${message}`);
    entries.push(fields);
  };
  return { lines, entries, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}
