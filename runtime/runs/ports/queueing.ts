import type { DomainName } from '../../domain-name/index.ts';

/** A caller in a queue: its run, and a callback for changes of its place. */
export interface InLine {
  /** Id of the run. */
  readonly run: string;
  /** Time of its arrival, milliseconds since the epoch. */
  readonly since: number;
  /** Callers with a higher one come first. Default 0. */
  readonly priority?: number;
  /** Called after changes of the queue's length. */
  moved: () => void;
  /** Called when it has left. */
  left?: () => void;
}

/** A queue with callers. */
export interface QueueView {
  readonly name: string;
  readonly length: number;
  /** Arrival of the caller who has waited longest, milliseconds since the epoch. */
  readonly since: number;
  /** See `servingTime`. */
  readonly serving: number | undefined;
}

/** Queues of waiting callers, by domain and name. In a cluster, another node may have to be asked. */
export interface Queues {
  /**
   * Joins a queue behind callers of the same or a higher priority; a caller that is already in it keeps its place and time.
   * @returns the entry in the queue; undefined when the queue is full
   */
  enter(domain: DomainName, name: string, caller: InLine): InLine | undefined | Promise<InLine | undefined>;
  /** Counts from 1; 0: not in the queue. */
  position(domain: DomainName, name: string, run: string): number;
  length(domain: DomainName, name: string): number;
  leave(domain: DomainName, name: string, run: string): void;
  /** The queues with callers, by name. */
  list(domain: DomainName): readonly QueueView[] | Promise<readonly QueueView[]>;
  /** A caller of the queue was served for this long, wrap-up included. */
  served(domain: DomainName, name: string, milliseconds: number): void;
  /** Mean of the milliseconds for which callers were served, the later ones counting more; undefined before the first one. */
  servingTime(domain: DomainName, name: string): number | undefined;
}

/** Limits of the callers in one queue, and of the queues. */
const MAX_LENGTH = 1000;
const MAX_LINES = 10_000;
/** Share of the latest caller in the mean time. */
const LATEST = 0.2;

/** Queues in memory, for the calls of one node. */
export class MemoryQueues implements Queues {
  readonly #lines = new Map<string, InLine[]>();
  readonly #served = new Map<string, number>();

  enter(domain: DomainName, name: string, caller: InLine): InLine | undefined {
    const line = this.#lines.get(key(domain, name)) ?? [];
    const known = line.find(({ run }) => run === caller.run);
    if (known) {
      known.moved = caller.moved;
      return known;
    }
    if (line.length >= MAX_LENGTH || (line.length === 0 && this.#lines.size >= MAX_LINES)) return undefined;
    const { priority = 0 } = caller;
    return this.#insert({ domain, name, line }, caller, (other) => (other.priority ?? 0) < priority);
  }

  /** Takes a caller from another node's queue, with its time of arrival there. */
  restore(domain: DomainName, name: string, caller: InLine): void {
    const line = this.#lines.get(key(domain, name)) ?? [];
    if (line.some(({ run }) => run === caller.run)) return;
    const { priority = 0, since } = caller;
    const isBehind = (other: InLine): boolean =>
      (other.priority ?? 0) < priority || ((other.priority ?? 0) === priority && other.since > since);
    this.#insert({ domain, name, line }, caller, isBehind);
  }

  /** The runs of the callers, in order. */
  runs(domain: DomainName, name: string): readonly string[] {
    return this.#lines.get(key(domain, name))?.map(({ run }) => run) ?? [];
  }

  #insert(
    { domain, name, line }: { readonly domain: DomainName; readonly name: string; readonly line: InLine[] },
    caller: InLine,
    isBehind: (other: InLine) => boolean,
  ): InLine {
    const behind = line.findIndex(isBehind);
    const at = behind < 0 ? line.length : behind;
    line.splice(at, 0, caller);
    this.#lines.set(key(domain, name), line);
    for (const later of line.slice(at + 1)) later.moved();
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
    const gone = line.find((caller) => caller.run === run);
    if (gone === undefined) return;
    if (left.length === 0) this.#lines.delete(key(domain, name));
    else this.#lines.set(key(domain, name), left);
    // Callers before it keep their places.
    for (const caller of left.slice(line.indexOf(gone))) caller.moved();
    gone.left?.();
  }

  list(domain: DomainName): readonly QueueView[] {
    const prefix = key(domain, '');
    return [...this.#lines]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, line]) => ({
        name: name.slice(prefix.length),
        length: line.length,
        since: Math.min(...line.map(({ since }) => since)),
        serving: this.#served.get(name),
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  served(domain: DomainName, name: string, milliseconds: number): void {
    const queue = key(domain, name);
    const mean = this.#served.get(queue) ?? milliseconds;
    // The map keeps insertion order.
    this.#served.delete(queue);
    this.#served.set(queue, mean + (milliseconds - mean) * LATEST);
    const [oldest] = this.#served.keys();
    if (this.#served.size > MAX_LINES && oldest !== undefined) this.#served.delete(oldest);
  }

  servingTime(domain: DomainName, name: string): number | undefined {
    return this.#served.get(key(domain, name));
  }
}

function key(domain: DomainName, name: string): string {
  return `${domain} ${name}`;
}
