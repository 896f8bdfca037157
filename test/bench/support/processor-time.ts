/** Processor time of a program under load, by its parts. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs, cpuOfThreads } from './process-usage.ts';

/** In the order of the tables. */
export const PARTS = ['main', 'SIP server', 'media server', 'V8 helpers', 'others'] as const;
export type Part = (typeof PARTS)[number];
/** Milliseconds of each part. */
export type ProcessorTime = Readonly<Record<Part, number>>;

/** Names of threads: Node's, and those of the embedded servers. */
const THREADS: Readonly<Record<string, Part>> = {
  MainThread: 'main',
  'embedded-sip': 'SIP server',
  'embedded-media': 'media server',
  V8Worker: 'V8 helpers',
  DelayedTaskSche: 'V8 helpers',
};

const LOOK_MS = 250;
/** Use of one processor below which a program is at rest. */
const REST = 0.1;
const SETTLE_LIMIT_MS = 15_000;

/** The processes of a program and of its servers, by process id. */
export interface Processes {
  readonly program: number;
  /** Absent for embedded servers. */
  readonly sipServer?: number;
  readonly mediaServer?: number;
}

export function ofParts(value: (part: Part) => number): ProcessorTime {
  return Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Record<Part, number>;
}

export function sumOf(time: ProcessorTime): number {
  return PARTS.reduce((sum, part) => sum + time[part], 0);
}

/** Processor time so far. */
export function processorTime({ program, sipServer, mediaServer }: Processes): ProcessorTime {
  const threads = cpuOfThreads(program);
  const named = ofParts((part) => threads.reduce((sum, [name, ms]) => (THREADS[name] === part ? sum + ms : sum), 0));
  return {
    ...named,
    'SIP server': sipServer === undefined ? named['SIP server'] : cpuMs(sipServer),
    'media server': mediaServer === undefined ? named['media server'] : cpuMs(mediaServer),
    others: Math.max(0, cpuMs(program) - sumOf(named)),
  };
}

/** Waits until nothing is left of the load before, 15 seconds at most. */
export async function settled(processes: Processes): Promise<void> {
  const limit = performance.now() + SETTLE_LIMIT_MS;
  let before = sumOf(processorTime(processes));
  while (performance.now() < limit) {
    await delay(LOOK_MS);
    const now = sumOf(processorTime(processes));
    if (now - before < LOOK_MS * REST) return;
    before = now;
  }
}
