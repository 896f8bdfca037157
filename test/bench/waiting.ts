import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { components } from '../../components/index.ts';
import { checkText } from '../../runtime/interpreter/checker/check-file.ts';
import type { Log } from '../../runtime/interpreter/log.ts';
import type { Program } from '../../runtime/interpreter/program.ts';
import { type Run, startRun } from '../../runtime/interpreter/run/run.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { cpuMs, residentMiB } from './support/process-usage.ts';
import type { Benchmark, Figure } from './support/report.ts';

const RUNS = 1000;
const WATCHED_MS = 5000;
/** Longer than a module may wait before it gives up its isolate. */
const SETTLE_MS = 8000;

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

/** What a thousand runs cost that wait for an hour. */
export const waiting: Benchmark = {
  title: `waiting: ${RUNS} runs at once that wait for an hour`,
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

interface Cost {
  /** Kilobytes of a run in the node, and in the process of its script. */
  readonly here: number;
  readonly there: number;
  /** Milliseconds of processor time in a second, of all runs. */
  readonly cpu: number;
  /** Milliseconds until all have ended. */
  readonly ends: number;
}

async function measure(
  file: string,
  source: string,
  sandbox: Sandbox & { pids: readonly number[] },
  collect: () => void,
): Promise<Cost> {
  const { program } = await checkText(source, { file, components });
  const options = { log: SILENT, services: { sandbox } };
  // What is made once is not a run's.
  await ended([startRun(program as Program, options)]);
  const before = used(collect);
  const [pid = 0] = sandbox.pids;
  const residentBefore = residentMiB(pid);
  const runs = Array.from({ length: RUNS }, () => startRun(program as Program, options));
  await delay(SETTLE_MS);
  const here = (used(collect) - before) / RUNS / 1000;
  const there = ((residentMiB(pid) - residentBefore) * 1024) / RUNS;
  const spent = cpuMs(process.pid) + cpuMs(pid);
  await delay(WATCHED_MS);
  const cpu = (cpuMs(process.pid) + cpuMs(pid) - spent) / (WATCHED_MS / 1000);
  const began = performance.now();
  await ended(runs);
  return { here, there, cpu, ends: performance.now() - began };
}

async function ended(runs: readonly Run[]): Promise<void> {
  await delay(100);
  for (const run of runs) run.stop('measured');
  await Promise.all(runs.map(({ finished }) => finished));
}

function used(collect: () => void): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function figures(kind: string, { here, there, cpu, ends }: Cost): Figure[] {
  return [
    { what: `kB in the node for each ${kind}`, figure: here },
    { what: `kB in the script process for each ${kind}`, figure: there },
    { what: `ms of processor time a second for ${RUNS} of kind ${kind}`, figure: cpu },
    { what: `ms until ${RUNS} of kind ${kind} have ended`, figure: ends },
  ];
}

const quiet = (): void => undefined;
const SILENT: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
