import type { Log } from '../log.ts';
import type { Sensitive } from './sensitive.ts';

/** Fields with ids, by which lines are found. */
const IDS: ReadonlySet<string> = new Set(['run', 'scenario', 'block', 'child', 'call', 'callid', 'dialogid']);

/** A log without sensitive values. */
export class MaskedLog implements Log {
  readonly #log: Log;
  readonly #sensitive: Sensitive;

  constructor(log: Log, sensitive: Sensitive) {
    this.#log = log;
    this.#sensitive = sensitive;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#shown(fields), message);
  }

  info(fields: object, message: string): void {
    this.#log.info(this.#shown(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#shown(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#shown(fields), message);
  }

  #shown(fields: object): object {
    if (this.#sensitive.isEmpty) return fields;
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]: [string, unknown]) => {
        if (IDS.has(name)) return [name, value];
        return [name, value instanceof Error ? this.#sensitive.error(value) : this.#sensitive.value(value)];
      }),
    );
  }
}
