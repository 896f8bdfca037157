import {
  allowedProcessors,
  idleTimes,
  keepTo,
  mayEndIdlePolicy,
  processorsIn,
  type RunProgram,
  setIdlePolicy,
  withoutFirstProcessor,
} from '../../processes/index.ts';
import { Saturation, type Use } from './saturation.ts';

const LOOK_MS = 100;

interface Watched {
  readonly pids: () => readonly number[];
  readonly time: (pid: number) => number | undefined;
  readonly nice: number;
  readonly run: RunProgram;
}

/**
 * Keeps script processes off one processor while they would use all: on a machine whose processors are all busy all the time,
 * neither its kernel nor, where it is a virtual one, its host gives calls one in time, whatever their priority. On those that are
 * left to them they are put under SCHED_IDLE meanwhile, where that can be undone: a kernel that does not interrupt what has just
 * begun, however nice, interrupts that. With less to do they have every processor, as what computes beside a script, e.g. V8's
 * compiler, does it on another, and the ordinary policy, under which they get their share beside whatever else is busy.
 */
export class SparedProcessor {
  readonly #all: string;
  readonly #left: string;
  readonly #processors: readonly number[];
  readonly #numbersOfLeft: readonly number[];
  readonly #pids: () => readonly number[];
  readonly #time: (pid: number) => number | undefined;
  readonly #run: RunProgram;
  readonly #isIdlePossible: boolean;
  readonly #saturation: Saturation;
  readonly #timer: NodeJS.Timeout;
  /** Processes that are kept off it, or about to be. */
  readonly #kept = new Set<number>();
  /** One after the other: what is wanted last is done last. */
  #keeping = Promise.resolve();
  #used = new Map<number, number>();
  /** By processor, milliseconds without anything to do, at the last look. */
  #idle: ReadonlyMap<number, number> | undefined;
  #lookedAt = performance.now();
  #isSpared = false;

  private constructor(all: string, left: string, { pids, time, nice, run }: Watched) {
    this.#all = all;
    this.#left = left;
    this.#processors = processorsIn(all);
    this.#numbersOfLeft = processorsIn(left);
    this.#pids = pids;
    this.#time = time;
    this.#run = run;
    this.#isIdlePossible = mayEndIdlePolicy(nice);
    this.#saturation = new Saturation(this.#processors.length);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /**
   * @param watched `pids` of script processes; `time`: milliseconds of processor time that a process has used so far, undefined:
   *   it is gone; `nice` of script processes; `run` starts programs
   * @returns undefined: there is only one processor, or no telling (systems other than Linux)
   */
  static watch(watched: Watched): SparedProcessor | undefined {
    const all = allowedProcessors();
    const left = all === undefined ? undefined : withoutFirstProcessor(all);
    return all === undefined || left === undefined ? undefined : new SparedProcessor(all, left, watched);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A script process that has just been started: its first steps are the busiest. */
  add(pid: number): void {
    this.#keepOff(pid, this.#isSpared);
  }

  #look(): void {
    const now = performance.now();
    const passedMs = now - this.#lookedAt;
    const used = new Map<number, number>();
    let busyMs = 0;
    for (const pid of this.#pids()) {
      const total = this.#time(pid);
      if (total === undefined) continue;
      used.set(pid, total);
      busyMs += total - (this.#used.get(pid) ?? 0);
    }
    this.#isSpared = this.#saturation.look({
      used: busyMs / passedMs,
      ...this.#idleSince(passedMs, busyMs > 0),
    });
    this.#used = used;
    this.#lookedAt = now;
    for (const pid of this.#kept) if (!used.has(pid)) this.#kept.delete(pid);
    for (const pid of used.keys()) this.#keepOff(pid, this.#isSpared);
  }

  /** What was idle since the last look. While no script computes nobody needs to know. */
  #idleSince(passedMs: number, isComputing: boolean): Pick<Use, 'idle' | 'idleOfLeft'> {
    const before = this.#idle;
    const now = isComputing ? idleTimes() : undefined;
    this.#idle = now;
    if (before === undefined || now === undefined)
      return { idle: this.#processors.length, idleOfLeft: this.#numbersOfLeft.length };
    const since = (processor: number): number => (now.get(processor) ?? 0) - (before.get(processor) ?? 0);
    const sum = (processors: readonly number[]): number =>
      processors.reduce((total, processor) => total + since(processor), 0) / passedMs;
    return { idle: sum(this.#processors), idleOfLeft: sum(this.#numbersOfLeft) };
  }

  #keepOff(pid: number, isSpared: boolean): void {
    if (this.#kept.has(pid) === isSpared) return;
    if (isSpared) this.#kept.add(pid);
    else this.#kept.delete(pid);
    this.#keeping = this.#keeping.then(async () => {
      await keepTo(this.#run, pid, isSpared ? this.#left : this.#all);
      if (this.#isIdlePossible) await setIdlePolicy(this.#run, pid, isSpared);
    });
  }
}
