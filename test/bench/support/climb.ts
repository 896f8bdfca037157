import { percentile } from './percentile.ts';
import { cpuMs } from './process-usage.ts';
import type { Figure } from './report.ts';
import type { LoadOutcome } from './registered-phones.ts';

const STEP_SECONDS = 6;
/** Calls per second of the steps, ten per decade. */
export const RATES = [
  10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200, 250, 320, 400, 500, 630, 800, 1000, 1250, 1600, 2000,
];

/** A server under load. */
export interface Subject {
  readonly name: string;
  /** Its processes. */
  readonly pids: readonly number[];
  call(calls: number, rate: number): Promise<LoadOutcome>;
}

export interface Step extends LoadOutcome {
  readonly rate: number;
  /** Processor time of all processes per call, ms. */
  readonly cpuPerCall: number;
}

export interface Climb {
  readonly first: Step | undefined;
  readonly best: Step | undefined;
  /** The step that ended the climb. */
  readonly failed: Step | undefined;
}

/** Raises the rate until a step is twice not clean: other load may spoil one. */
export async function climb(
  rates: readonly number[],
  progress: (line: string) => void,
  subject: Subject,
): Promise<Climb> {
  let first: Step | undefined;
  let best: Step | undefined;
  for (const rate of rates) {
    let step = await measure(rate, progress, subject);
    if (!step.clean) step = await measure(rate, progress, subject);
    first ??= step;
    if (!step.clean) return { first, best, failed: step };
    best = step;
  }
  return { first, best, failed: undefined };
}

/** One step at that rate. */
export async function measure(rate: number, progress: (line: string) => void, subject: Subject): Promise<Step> {
  const count = rate * STEP_SECONDS;
  const spent = (): number => subject.pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = spent();
  const outcome = await subject.call(count, rate);
  const cpuPerCall = (spent() - before) / count;
  const { succeeded, responseTimes: times } = outcome.caller;
  progress(
    `${subject.name} ${rate}/s: ${succeeded} of ${count} calls, ${outcome.retransmissions} retransmissions, ` +
      `INVITE to 200 ${percentile(times, 0.5)} ms (p50), ${percentile(times, 0.99)} ms (p99), ` +
      `${cpuPerCall.toFixed(2)} ms of processor time a call`,
  );
  return { rate, ...outcome, cpuPerCall };
}

/** At the rate of `step`; the floor only when measured at the same rate. */
export function responseTimes(step: Step | undefined, floor?: Step): Figure[] {
  return [0.5, 0.99].map((share) => ({
    what: `ms from INVITE to 200 at ${step?.rate ?? 0}/s, p${share * 100}`,
    figure: percentile(step?.caller.responseTimes ?? [], share),
    floor: percentile(floor?.caller.responseTimes ?? [], share),
  }));
}

/** The reason for the end of a climb, in few words. */
export function ended({ failed }: Climb): string {
  return failed === undefined ? 'the highest rate tried' : `not clean at ${failed.rate}/s`;
}
