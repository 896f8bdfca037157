import process from 'node:process';

/** A script at work. */
export interface Turn {
  /** Milliseconds that it has been on a thread, waiting for the processor included. */
  readonly onThread: () => number;
  /** Milliseconds of processor time that it may have. */
  readonly limitMs: number;
  /** Called once, when it has had them. */
  readonly exceeded: () => void;
  /** Called at every look at which it is still at work. */
  readonly goesOn?: () => void;
}

interface Watched {
  readonly turn: Turn;
  /** When it is over at the latest, by `performance.now()`. */
  readonly until: number;
  /** What it has used up to the last look. */
  used: number;
  /** Its time on a thread, and the processor time of the process, at the last look. */
  onThread: number;
  cpu: number;
  ended: boolean;
}

/** How many times as long as its processor time a turn may take, on a machine that has little of it to give. */
export const STARVED = 20;
/** Milliseconds between two looks. */
const PERIOD_MS = 20;

/**
 * Counts the processor time of scripts while they work. isolated-vm knows how long they were on a thread; the system knows what
 * the process has used as a whole. What threads did not get of the time in which they wanted to work, they waited for.
 */
export class ProcessorWatch {
  readonly #cpuMs: () => number;
  readonly #turns = new Map<Turn, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #cpu = 0;

  /** @param cpuMs milliseconds of processor time that the process has used */
  constructor(cpuMs: () => number = processMs) {
    this.#cpuMs = cpuMs;
  }

  begin(turn: Turn): void {
    const cpu = this.#cpuMs();
    if (this.#turns.size === 0) this.#cpu = cpu;
    const until = performance.now() + STARVED * turn.limitMs;
    this.#turns.set(turn, { turn, until, used: 0, onThread: 0, cpu, ended: false });
    this.#timer ??= setInterval(() => this.look(), PERIOD_MS);
  }

  /** Milliseconds that a turn has used so far; none when it is over. */
  used(turn: Turn): number {
    const watched = this.#turns.get(turn);
    if (watched === undefined) return 0;
    // Neither more than the process nor more than the thread: the most that it can be, for the short time since the last look.
    return watched.used + Math.max(0, Math.min(turn.onThread() - watched.onThread, this.#cpuMs() - watched.cpu));
  }

  /** @returns milliseconds that the turn has used */
  end(turn: Turn): number {
    const used = this.used(turn);
    this.#turns.delete(turn);
    return used;
  }

  look(): void {
    if (this.#turns.size === 0) {
      // Stopped late, for most turns are shorter than the period.
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#count();
    const now = performance.now();
    for (const watched of this.#turns.values()) {
      if (watched.ended) continue;
      watched.ended = watched.used >= watched.turn.limitMs || now >= watched.until;
      if (watched.ended) watched.turn.exceeded();
      else watched.turn.goesOn?.();
    }
  }

  #count(): void {
    const cpu = this.#cpuMs();
    const worked = [...this.#turns.values()].map((watched) => {
      const onThread = Math.max(watched.onThread, watched.turn.onThread());
      const milliseconds = onThread - watched.onThread;
      watched.onThread = onThread;
      watched.cpu = cpu;
      return { watched, milliseconds };
    });
    const wanted = worked.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    const got = wanted === 0 ? 0 : Math.min(1, (cpu - this.#cpu) / wanted);
    for (const { watched, milliseconds } of worked) watched.used += milliseconds * got;
    this.#cpu = cpu;
  }
}

function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
