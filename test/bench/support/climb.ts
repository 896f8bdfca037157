import { percentile } from './percentile.ts';
import { ofParts, type Processes, type ProcessorTime, processorTime, settled, sumOf } from './processor-time.ts';
import type { LoadOutcome } from './sipp-phones.ts';

const STEP_SECONDS = 5;
/** Calls per second of the steps, ten per decade. */
export const RATES: readonly number[] = [
  10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200, 250, 320, 400, 500, 630, 800, 1000, 1250, 1600, 2000,
];
/** Steps by which a rate doubles. */
const DOUBLE = 3;

/** A server under load. */
export interface Subject {
  readonly name: string;
  readonly processes: Processes;
  /** Registers the phones for the next step. */
  prepare(): Promise<void>;
  call(calls: number, rate: number): Promise<LoadOutcome>;
}

export interface Step extends LoadOutcome {
  readonly rate: number;
  /** Processor time of all processes per call, ms. */
  readonly cpuPerCall: number;
  /** The same by part. */
  readonly cpuOfParts: ProcessorTime;
}

export interface Climb {
  readonly first: Step | undefined;
  readonly best: Step | undefined;
  /** The step that ended the climb. */
  readonly failed: Step | undefined;
}

/**
 * Doubles the rate until a step is not clean, then raises it step by step from the last clean one until a step is twice
 * not clean: other load may spoil one.
 */
export async function climb(
  rates: readonly number[],
  progress: (line: string) => void,
  subject: Subject,
): Promise<Climb> {
  let first: Step | undefined;
  let best: Step | undefined;
  let failed: Step | undefined;
  let clean = -1;
  for (const stride of [DOUBLE, 1]) {
    for (;;) {
      const next = best === undefined ? 0 : clean + stride;
      const rate = rates[next];
      if (rate === undefined) break;
      let step = await measure(rate, progress, subject);
      if (!step.clean && stride === 1) step = await measure(rate, progress, subject);
      first ??= step;
      failed = step.clean ? undefined : step;
      if (!step.clean) break;
      best = step;
      clean = next;
    }
  }
  return { first, best, failed };
}

/** One step at that rate. */
export async function measure(rate: number, progress: (line: string) => void, subject: Subject): Promise<Step> {
  const calls = rate * STEP_SECONDS;
  await settled(subject.processes);
  await subject.prepare();
  const before = processorTime(subject.processes);
  const outcome = await subject.call(calls, rate);
  const after = processorTime(subject.processes);
  const cpuOfParts = ofParts((part) => Math.max(0, after[part] - before[part]) / calls);
  const cpuPerCall = sumOf(cpuOfParts);
  const { succeeded, answerTimes } = outcome.caller;
  progress(
    `${subject.name} ${rate}/s: ${succeeded} of ${outcome.calls} calls, ${outcome.retransmissions} retransmissions, ` +
      `INVITE to 200 ${percentile(answerTimes, 0.5)} ms (p50), ${percentile(answerTimes, 0.99)} ms (p99), ` +
      `${cpuPerCall.toFixed(2)} ms of processor time a call`,
  );
  return { rate, ...outcome, cpuPerCall, cpuOfParts };
}

/** The reason for the end of a climb, in few words. */
export function ended({ failed }: Climb): string {
  return failed === undefined ? 'the highest rate tried' : `not clean at ${failed.rate}/s`;
}
