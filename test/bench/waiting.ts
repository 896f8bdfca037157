import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import type { Log } from '../../runtime/runs/log.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { Run } from '../../runtime/runs/run/run.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { cpuMs, residentMiB } from './support/process-usage.ts';
import type { Benchmark, Figure } from './support/report.ts';
import { systemClock } from '../../runtime/runs/clock.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';

const RUNS = 1000;
const WATCHED_MS = 5000;
/** Longer than a module waits before its isolate is released, and longer than a grown script process stays idle. */
const SETTLE_MS = 18_000;
/** Milliseconds between measurements of the script process at its largest. */
const LOOK_MS = 50;

const YAML = `id: waits
variables: { digits: "12345", tries: 0, order: { type: object, value: { id: 7, state: open } } }
start: pause
blocks:
  pause: { wait: 1h, next: done }
  done: { set: { tries: "\${tries + 1}" }, next: end }
`;
const MODULE = `export default async function (call, args) {
  const order = { id: 7, state: 'open' };
  await sleep('1h');
  return order;
}
`;

/** Costs of a thousand runs that wait for an hour, and of a thousand more. */
export const waiting: Benchmark = {
  title: `waiting: ${RUNS} runs at once that wait for an hour, and ${RUNS} more`,
  async run(progress) {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const blocks = await measure('waits.yaml', YAML, sandbox, collect);
      progress('scenarios of blocks');
      const modules = await measure('waits.js', MODULE, sandbox, collect);
      return [...figures('scenario of blocks', blocks), ...figures('module', modules)];
    } finally {
      await sandbox.close();
    }
  },
};

/** Memory in bytes. */
interface Memory {
  /** Live objects of the node. */
  readonly alive: number;
  /** Resident memory of the node, and of the script process. */
  readonly here: number;
  readonly there: number;
}

interface Cost {
  /** Of all first runs, and of all further ones. */
  readonly first: Memory;
  readonly more: Memory;
  /** Additional resident memory of the script process at its largest, in bytes. */
  readonly peak: number;
  /** Milliseconds of processor time per second, of all runs. */
  readonly cpu: number;
  /** Milliseconds until all have ended. */
  readonly ends: number;
}

type Scripts = Sandbox & { pids: readonly number[] };

async function measure(file: string, source: string, sandbox: Scripts, collect: () => void): Promise<Cost> {
  const { program } = await checkText(source, { file, components });
  const options = { log: SILENT, services: { ...simulatedServices({ clock: systemClock }), sandbox } };
  const start = (): Run => startRun(program as Program, options);
  // Costs of the first run of all are not counted.
  await ended([start()]);
  const before = memory(sandbox, collect);
  const peak = watchPeak(sandbox);
  const runs = Array.from({ length: RUNS }, start);
  await delay(SETTLE_MS);
  const largest = peak() - before.there;
  const between = memory(sandbox, collect);
  const [pid = 0] = sandbox.pids;
  const spent = cpuMs(process.pid) + cpuMs(pid);
  await delay(WATCHED_MS);
  const cpu = (cpuMs(process.pid) + cpuMs(pid) - spent) / (WATCHED_MS / 1000);
  const others = Array.from({ length: RUNS }, start);
  await delay(SETTLE_MS);
  const after = memory(sandbox, collect);
  const began = performance.now();
  await ended(runs);
  const ends = performance.now() - began;
  await ended(others);
  return { first: difference(before, between), more: difference(between, after), peak: largest, cpu, ends };
}

async function ended(runs: readonly Run[]): Promise<void> {
  await delay(100);
  for (const run of runs) run.stop('measured');
  await Promise.all(runs.map(({ finished }) => finished));
}

function memory(sandbox: Scripts, collect: () => void): Memory {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { alive: heapUsed + external, here: rss, there: resident(sandbox) };
}

function difference(before: Memory, after: Memory): Memory {
  return { alive: after.alive - before.alive, here: after.here - before.here, there: after.there - before.there };
}

/** Of all script processes, including one that is about to replace another. */
function resident({ pids }: Scripts): number {
  return pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
}

/** A replaced process may end between two measurements. */
function residentBytes(pid: number): number {
  try {
    return (residentMiB(pid) || 0) * 1_048_576;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
}

/** @returns a function that stops it and returns the maximum */
function watchPeak(sandbox: Scripts): () => number {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, resident(sandbox))), LOOK_MS);
  return () => {
    clearInterval(timer);
    return peak;
  };
}

function figures(kind: string, { first, more, peak, cpu, ends }: Cost): Figure[] {
  const each = (bytes: number): number => bytes / RUNS / 1000;
  const memories: readonly (readonly [string, Memory])[] = [
    ['', first],
    [`, of ${RUNS} more`, more],
  ];
  return [
    ...memories.flatMap(([which, { alive, here, there }]) => [
      { what: `kB alive in the node for each ${kind}${which}`, figure: each(alive) },
      { what: `kB resident in the node for each ${kind}${which}`, figure: each(here) },
      { what: `kB resident in script processes for each ${kind}${which}`, figure: each(there) },
    ]),
    { what: `MB more in script processes at the most, ${kind}`, figure: peak / 1e6 },
    { what: `ms of processor time a second for ${RUNS} of kind ${kind}`, figure: cpu },
    { what: `ms until ${RUNS} of kind ${kind} have ended`, figure: ends },
  ];
}

const quiet = (): void => undefined;
const SILENT: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
