/** Scheduling of script processes. */
import {
  allowedProcessors,
  keepTo,
  mayEndIdlePolicy,
  processorsIn,
  type RunProgram,
  setIdlePolicy,
  withoutFirstProcessor,
} from '../../processes/index.ts';
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

/** Scheduling of a process. */
interface Schedule {
  /** Its processors in Linux's notation. */
  readonly processors: string;
  /** True under SCHED_IDLE. */
  readonly isIdle: boolean;
}

/**
 * Keeps script processes from delaying calls.
 *
 * They leave one processor free while they would use all: on a machine with all processors permanently busy, neither
 * the kernel nor the host of a virtual machine gives calls one in time, whatever their priority. With less load they
 * may use every processor, because work beside a script, such as V8's compiler, runs on another one.
 *
 * They run under SCHED_IDLE where that is reversible: some kernels do not preempt a task that has just started, however
 * nice, but do preempt that. Only while other programs keep all processors busy do they get the ordinary policy, for
 * their share.
 */
export class Scheduling {
  /** Scheduling of new processes. */
  readonly birth: Schedule;
  /** The remaining processors when scripts leave one free. */
  readonly #left: string;
  readonly #watched: Watched;
  /** Undefined with a single processor. */
  readonly #saturation: Saturation | undefined;
  readonly #starvation: Starvation;
  readonly #timer: NodeJS.Timeout;
  /** Present or pending scheduling of the processes. */
  readonly #schedules = new Map<number, Schedule>();
  /** Changes run one after another, so that the last one wins. */
  #rescheduling = Promise.resolve();
  #used = new Map<number, number>();
  /** Idle milliseconds by processor at the last check. */
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

  /** A new script process: its start is its busiest time. */
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

  /** Idle time since the last check. @param isWanted false while no script is active */
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
