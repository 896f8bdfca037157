/** Limits the processor time of scripts. */
import process from 'node:process';

/** A running turn. */
export interface Turn {
  /** Milliseconds on a thread, including waits for the processor. */
  readonly onThread: () => number;
  /** Permitted milliseconds of processor time. */
  readonly limitMs: number;
  /** Called once, when it has used them. */
  readonly exceeded: () => void;
  /** Called at each check while it is running. */
  readonly goesOn?: () => void;
}

interface Watched {
  readonly turn: Turn;
  /** Latest end, by `performance.now()`. */
  readonly until: number;
  /** Usage up to the last check. */
  used: number;
  /** Its time on a thread, and the processor time of the process, at the last check. */
  onThread: number;
  cpu: number;
  ended: boolean;
}

/** Longest duration of a turn as a multiple of its permitted processor time, for a busy machine. */
export const BUSY_FACTOR = 20;
/** Milliseconds between checks. */
const PERIOD_MS = 20;

/**
 * Measures the processor time of running scripts. isolated-vm knows their time on a thread; the system knows the
 * processor time of the whole process. Time that the threads did not get counts as waiting.
 */
export class ProcessorWatch {
  readonly #cpuMs: () => number;
  readonly #turns = new Map<Turn, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #cpu = 0;

  /** @param cpuMs returns the processor time of the process in milliseconds */
  constructor(cpuMs: () => number = processMs) {
    this.#cpuMs = cpuMs;
  }

  begin(turn: Turn): void {
    const cpu = this.#cpuMs();
    if (this.#turns.size === 0) this.#cpu = cpu;
    const until = performance.now() + BUSY_FACTOR * turn.limitMs;
    this.#turns.set(turn, { turn, until, used: 0, onThread: 0, cpu, ended: false });
    this.#timer ??= setInterval(() => this.look(), PERIOD_MS);
  }

  /** Milliseconds used by a turn so far; 0 when it has ended. */
  used(turn: Turn): number {
    const watched = this.#turns.get(turn);
    if (watched === undefined) return 0;
    // An upper bound for the time since the last check: the smaller of process time and thread time.
    return watched.used + Math.max(0, Math.min(turn.onThread() - watched.onThread, this.#cpuMs() - watched.cpu));
  }

  /** @returns milliseconds used by the turn */
  end(turn: Turn): number {
    const used = this.used(turn);
    this.#turns.delete(turn);
    return used;
  }

  look(): void {
    if (this.#turns.size === 0) {
      // Stopped lazily, because most turns are shorter than the period.
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
