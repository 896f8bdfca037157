import {
  allowedProcessors,
  countProcessors,
  keepTo,
  type RunProgram,
  withoutFirstProcessor,
} from '../../processes/index.ts';
import { Saturation } from './saturation.ts';

const LOOK_MS = 250;

interface Watched {
  readonly pids: () => readonly number[];
  readonly time: (pid: number) => number | undefined;
  readonly run: RunProgram;
}

/**
 * Keeps script processes off one processor while they would use all: on a machine whose processors are all busy all the time,
 * neither its kernel nor, where it is a virtual one, its host gives calls one in time, whatever their priority. With less to do
 * they have every processor, as what computes beside a script, e.g. V8's compiler, does it on another.
 */
export class SparedProcessor {
  readonly #all: string;
  readonly #left: string;
  readonly #pids: () => readonly number[];
  readonly #time: (pid: number) => number | undefined;
  readonly #run: RunProgram;
  readonly #saturation: Saturation;
  readonly #timer: NodeJS.Timeout;
  /** By process, the processors it is kept to, or about to be. */
  readonly #kept = new Map<number, string>();
  /** One after the other: what is wanted last is done last. */
  #keeping = Promise.resolve();
  #used = new Map<number, number>();
  #lookedAt = performance.now();

  private constructor(all: string, left: string, { pids, time, run }: Watched) {
    this.#all = all;
    this.#left = left;
    this.#pids = pids;
    this.#time = time;
    this.#run = run;
    this.#saturation = new Saturation(countProcessors(all));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /**
   * @param pids of script processes
   * @param time milliseconds of processor time that a process has used so far; undefined: it is gone
   * @param run starts programs
   * @returns undefined: there is only one processor, or no telling (systems other than Linux)
   */
  static watch(pids: Watched['pids'], time: Watched['time'], run: RunProgram): SparedProcessor | undefined {
    const all = allowedProcessors();
    const left = all === undefined ? undefined : withoutFirstProcessor(all);
    return all === undefined || left === undefined ? undefined : new SparedProcessor(all, left, { pids, time, run });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const used = new Map<number, number>();
    let busyMs = 0;
    for (const pid of this.#pids()) {
      const total = this.#time(pid);
      if (total === undefined) continue;
      used.set(pid, total);
      busyMs += total - (this.#used.get(pid) ?? 0);
    }
    const saturated = this.#saturation.look(busyMs / (now - this.#lookedAt));
    this.#used = used;
    this.#lookedAt = now;
    for (const pid of this.#kept.keys()) if (!used.has(pid)) this.#kept.delete(pid);
    for (const pid of used.keys()) this.#keep(pid, saturated ? this.#left : this.#all);
  }

  #keep(pid: number, processors: string): void {
    if ((this.#kept.get(pid) ?? this.#all) === processors) return;
    this.#kept.set(pid, processors);
    this.#keeping = this.#keeping.then(() => keepTo(this.#run, pid, processors));
  }
}
