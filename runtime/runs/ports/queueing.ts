import type { DomainName } from '../../domain-name/index.ts';

/** A caller in a queue: its run, and a callback for changes of its place. */
export interface InLine {
  /** Id of the run. */
  readonly run: string;
  /** Time of its arrival, milliseconds since the epoch. */
  readonly since: number;
  /** Called after changes of the queue's length. */
  moved: () => void;
}

/** Queues of waiting callers, by domain and name. */
export interface Queues {
  /**
   * Joins a queue at its end; a caller that is already in it keeps its place and time.
   * @returns the entry in the queue; undefined when the queue is full
   */
  enter(domain: DomainName, name: string, caller: InLine): InLine | undefined;
  /** Counts from 1; 0: not in the queue. */
  position(domain: DomainName, name: string, run: string): number;
  length(domain: DomainName, name: string): number;
  leave(domain: DomainName, name: string, run: string): void;
}

/** Limits of the callers in one queue, and of the queues. */
const MAX_LENGTH = 1000;
const MAX_LINES = 10_000;

/** Queues in memory, for the calls of one node. */
export class MemoryQueues implements Queues {
  readonly #lines = new Map<string, InLine[]>();

  enter(domain: DomainName, name: string, caller: InLine): InLine | undefined {
    const line = this.#lines.get(key(domain, name)) ?? [];
    const known = line.find(({ run }) => run === caller.run);
    if (known) {
      known.moved = caller.moved;
      return known;
    }
    if (line.length >= MAX_LENGTH || (line.length === 0 && this.#lines.size >= MAX_LINES)) return undefined;
    line.push(caller);
    this.#lines.set(key(domain, name), line);
    return caller;
  }

  position(domain: DomainName, name: string, run: string): number {
    return (this.#lines.get(key(domain, name))?.findIndex((caller) => caller.run === run) ?? -1) + 1;
  }

  length(domain: DomainName, name: string): number {
    return this.#lines.get(key(domain, name))?.length ?? 0;
  }

  leave(domain: DomainName, name: string, run: string): void {
    const line = this.#lines.get(key(domain, name)) ?? [];
    const left = line.filter((caller) => caller.run !== run);
    if (left.length === line.length) return;
    if (left.length === 0) this.#lines.delete(key(domain, name));
    else this.#lines.set(key(domain, name), left);
    // Callers before it keep their places.
    for (const caller of left.slice(line.findIndex(({ run: id }) => id === run))) caller.moved();
  }
}

function key(domain: DomainName, name: string): string {
  return `${domain} ${name}`;
}
