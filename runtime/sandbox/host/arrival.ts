/** A run on its way into a worker process. */
import type { HostRun, RunLink } from './host-run.ts';
import type { NumberedProgram } from './programs.ts';

/** A job for a script, with the time of its clock unless that is the machine's. */
export interface Job {
  readonly text: string;
  readonly now?: number;
}

export function jobOf(run: HostRun, text: string): Job {
  return { text, ...timeOf(run) };
}

/** The clock of a run with a time of its own. */
export function timeOf({ options: { clock } }: HostRun): { readonly now?: number } {
  return clock === undefined ? {} : { now: clock() };
}

/** The way a run enters a process. */
export interface Entrance {
  /** It begins there, or resumes after sleep. */
  readonly type: 'start' | 'wake';
  /** The first activation, or the saved state of the run. */
  readonly text: string;
}

/** A run on its way into a process. */
export class Arrival implements RunLink {
  readonly id: number;
  readonly run: HostRun;
  readonly program: NumberedProgram;
  readonly entrance: Entrance;
  /** Jobs for the run once it has arrived. */
  readonly jobs: Job[];
  /** Its target process died. */
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

  /** The process that takes it is asked. */
  save(): undefined {
    return undefined;
  }

  halt(): boolean {
    return false;
  }

  job(text: string): void {
    this.jobs.push(jobOf(this.run, text));
  }

  /** No process has the run. */
  end(): void {
    this.jobs.length = 0;
  }
}
