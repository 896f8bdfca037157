/** A caller in a line: who has it, and how to tell it that its place has changed. */
export interface InLine {
  /** Id of the run. */
  readonly run: string;
  /** When it came, milliseconds since the epoch. */
  readonly since: number;
  /** Called when the line has become shorter or longer. */
  moved: () => void;
}

/** Lines in which callers wait for their turn, by domain and name. */
export interface Queues {
  /**
   * Goes to the end of a line; whoever is in it already keeps the place, and the time.
   * @returns as it stands in the line; undefined when that is full
   */
  enter(domain: string, name: string, caller: InLine): InLine | undefined;
  /** Counts from 1; 0: not in the line. */
  position(domain: string, name: string, run: string): number;
  length(domain: string, name: string): number;
  leave(domain: string, name: string, run: string): void;
}

/** Callers of one line, and lines there are. */
const MAX_LENGTH = 1000;
const MAX_LINES = 10_000;

/** Lines in memory: of one node, for the calls that are on it. */
export class MemoryQueues implements Queues {
  readonly #lines = new Map<string, InLine[]>();

  enter(domain: string, name: string, caller: InLine): InLine | undefined {
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

  position(domain: string, name: string, run: string): number {
    return (this.#lines.get(key(domain, name))?.findIndex((caller) => caller.run === run) ?? -1) + 1;
  }

  length(domain: string, name: string): number {
    return this.#lines.get(key(domain, name))?.length ?? 0;
  }

  leave(domain: string, name: string, run: string): void {
    const line = this.#lines.get(key(domain, name)) ?? [];
    const left = line.filter((caller) => caller.run !== run);
    if (left.length === line.length) return;
    if (left.length === 0) this.#lines.delete(key(domain, name));
    else this.#lines.set(key(domain, name), left);
    // Whoever was before does not move.
    for (const caller of left.slice(line.findIndex(({ run: id }) => id === run))) caller.moved();
  }
}

function key(domain: string, name: string): string {
  return `${domain.toLowerCase()} ${name}`;
}
