import { allowedProcessors, keepTo, mayEndIdlePolicy, processorsIn, type RunProgram, setIdlePolicy, withoutFirstProcessor } from '../../processes/index.ts';
import { Saturation } from './saturation.ts';
import { Starvation } from './starvation.ts';
import type { Use } from './use.ts';

const LOOK_MS = 100;

interface Watched {
  readonly pids: () => readonly number[];
  readonly isBusy: () => boolean;
  readonly time: (pid: number) => number | undefined;
  readonly idle: () => ReadonlyMap<number, number>;
  readonly nice: number;
  readonly run: RunProgram;
}

/** How a process is scheduled. */
interface Schedule {
  /** What it may use, as Linux lists processors. */
  readonly processors: string;
  /** Under SCHED_IDLE. */
  readonly isIdle: boolean;
}

/**
 * Keeps script processes out of the way of calls.
 *
 * Off one processor while they would use all: on a machine whose processors are all busy all the time, neither its kernel nor,
 * where it is a virtual one, its host gives calls one in time, whatever their priority. With less to do they have every processor,
 * as what computes beside a script, e.g. V8's compiler, does it on another.
 *
 * Under SCHED_IDLE, where that can be undone: a kernel that does not interrupt what has just begun, however nice, interrupts
 * that. Only while others keep all processors busy they are under the ordinary policy, to get their share.
 */
export class Scheduling {
  /** How processes begin. */
  readonly birth: Schedule;
  /** The processors that are left to them when they leave one. */
  readonly #left: string;
  readonly #watched: Watched;
  /** Undefined: there is one processor only. */
  readonly #saturation: Saturation | undefined;
  readonly #starvation: Starvation;
  readonly #timer: NodeJS.Timeout;
  /** How processes are scheduled, or about to be. */
  readonly #schedules = new Map<number, Schedule>();
  /** One after the other: what is wanted last is done last. */
  #rescheduling = Promise.resolve();
  #used = new Map<number, number>();
  /** By processor, milliseconds without anything to do, at the last look. */
  #idle: ReadonlyMap<number, number> | undefined;
  #lookedAt = performance.now();
  #wanted: Schedule;
  #isStarved = false;

  private constructor(all: string, watched: Watched) {
    const processors = processorsIn(all).length;
    this.birth = { processors: all, isIdle: mayEndIdlePolicy(watched.nice) };
    this.#left = withoutFirstProcessor(all) ?? all;
    this.#watched = watched;
    this.#saturation = processors > 1 ? new Saturation(processors) : undefined;
    this.#starvation = new Starvation(processors);
    this.#wanted = this.birth;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /**
   * @param watched `pids` of script processes; `isBusy`: whether any has something to do; `time`: milliseconds of processor time
   *   that a process has used so far, undefined: it is gone; `idle`: milliseconds each processor has had nothing to do so far;
   *   `nice` of script processes; `run` starts programs
   * @returns undefined: there is no telling (systems other than Linux)
   */
  static watch(watched: Watched): Scheduling | undefined {
    const all = allowedProcessors();
    return all === undefined ? undefined : new Scheduling(all, watched);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A script process that has just begun: its first steps are the busiest. */
  add(pid: number): void {
    this.#schedules.set(pid, this.birth);
    this.#reschedule(pid);
  }

  #look(): void {
    const now = performance.now();
    const passedMs = now - this.#lookedAt;
    const used = new Map<number, number>();
    let busyMs = 0;
    for (const pid of this.#watched.pids()) {
      const total = this.#watched.time(pid);
      if (total === undefined) continue;
      used.set(pid, total);
      busyMs += total - (this.#used.get(pid) ?? 0);
    }
    const isBusy = busyMs > 0 || this.#watched.isBusy();
    const use = { used: busyMs / passedMs, ...this.#idleSince(passedMs, isBusy || this.#isStarved) };
    const isSaturated = this.#saturation?.look(use) ?? false;
    this.#isStarved = this.#starvation.look(use);
    this.#wanted = {
      processors: isSaturated ? this.#left : this.birth.processors,
      isIdle: this.birth.isIdle && !this.#isStarved,
    };
    this.#used = used;
    this.#lookedAt = now;
    for (const pid of this.#schedules.keys()) {
      if (used.has(pid)) this.#reschedule(pid);
      else this.#schedules.delete(pid);
    }
  }

  /** What was idle since the last look. @param isWanted while no script has anything to do nobody needs to know */
  #idleSince(passedMs: number, isWanted: boolean): Pick<Use, 'idle' | 'idleOfLeft'> {
    const all = processorsIn(this.birth.processors);
    const left = processorsIn(this.#left);
    const before = this.#idle;
    const now = isWanted ? this.#watched.idle() : undefined;
    this.#idle = now;
    if (before === undefined || now === undefined) return { idle: all.length, idleOfLeft: left.length };
    const since = (processor: number): number => (now.get(processor) ?? 0) - (before.get(processor) ?? 0);
    const sum = (processors: readonly number[]): number =>
      processors.reduce((total, processor) => total + since(processor), 0) / passedMs;
    return { idle: sum(all), idleOfLeft: sum(left) };
  }

  #reschedule(pid: number): void {
    const { processors, isIdle } = this.#wanted;
    const before = this.#schedules.get(pid);
    this.#schedules.set(pid, this.#wanted);
    const { run } = this.#watched;
    if (processors !== before?.processors) this.#then(() => keepTo(run, pid, processors));
    if (isIdle !== before?.isIdle) this.#then(() => setIdlePolicy(run, pid, isIdle));
  }

  #then(step: () => Promise<void>): void {
    this.#rescheduling = this.#rescheduling.then(step);
  }
}
