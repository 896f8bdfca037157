import type { HostRun, RunLink } from './host-run.ts';
import type { NumberedProgram } from './programs.ts';

/** Something that a script is told, and its time by then where that is not the machine's. */
export interface Job {
  readonly text: string;
  readonly now?: number;
}

export function jobOf(run: HostRun, text: string): Job {
  return { text, ...timeOf(run) };
}

/** The time of a run that does not go by the machine's clock. */
export function timeOf({ options: { clock } }: HostRun): { readonly now?: number } {
  return clock === undefined ? {} : { now: clock() };
}

/** How a run comes into a process. */
export interface Entrance {
  /** It begins there, or goes on from where it fell asleep. */
  readonly type: 'start' | 'wake';
  /** The first activation, or what was left of the run. */
  readonly text: string;
}

/** A run on its way into a process. */
export class Arrival implements RunLink {
  readonly id: number;
  readonly run: HostRun;
  readonly program: NumberedProgram;
  readonly entrance: Entrance;
  /** What it is to be told once it is there. */
  readonly jobs: Job[];
  /** The process that it was on its way into died. */
  readonly isAgain: boolean;

  constructor(
    id: number,
    run: HostRun,
    program: NumberedProgram,
    entrance: Entrance,
    { jobs = [], isAgain = false }: { readonly jobs?: readonly Job[]; readonly isAgain?: boolean } = {},
  ) {
    this.id = id;
    this.run = run;
    this.program = program;
    this.entrance = entrance;
    this.jobs = [...jobs];
    this.isAgain = isAgain;
  }

  halt(): boolean {
    return false;
  }

  job(text: string): void {
    this.jobs.push(jobOf(this.run, text));
  }

  /** No process knows of it. */
  end(): void {
    this.jobs.length = 0;
  }
}
