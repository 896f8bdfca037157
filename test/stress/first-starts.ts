/**
 * Successive first starts under load, none of which may hang: `npm run first-starts -- --help`. A first start has an empty data
 * folder, no prepared database and no compiled code; it lasts until /healthz answers 200, and ends by SIGTERM.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from '../bench/support/percentile.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../support/ports.ts';
import { FreshCopy } from './fresh-copy.ts';

const USAGE = `usage: npm run first-starts -- [OPTION...]
  --count 500     first starts
  --parallel 2    starts at a time
  --busy 2        processes that use a processor all the time
  --ready 180     seconds until a node must be ready
  --stop 60       seconds until a node must have ended after SIGTERM
`;
const OUTPUT_LIMIT = 16 * 1024;
const LOOK_MS = 100;
const PROGRESS_EVERY = 10;
/** A node's log entry when it had to create its database again. */
const REPEATED = 'making the database took too long';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '500' },
    parallel: { type: 'string', default: '2' },
    busy: { type: 'string', default: '2' },
    ready: { type: 'string', default: '180' },
    stop: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const count = whole('count', values.count);
const readyMs = whole('ready', values.ready) * 1000;
const stopMs = whole('stop', values.stop) * 1000;

const work = mkdtempSync(join(tmpdir(), 'ringmaster-first-starts-'));
/** Processes of this run, each the leader of its group. */
const running = new Set<ChildProcess>();
const seconds = { ready: [] as number[], stop: [] as number[] };
let begun = 0;
let done = 0;
let repeated = 0;
const failures: string[] = [];

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    summarize();
    process.exit(1);
  });
}
process.once('exit', () => {
  for (const child of running) kill(child);
  rmSync(work, { recursive: true, force: true });
});

for (let index = whole('busy', values.busy); index > 0; index -= 1) beBusy();
await Promise.all(Array.from({ length: whole('parallel', values.parallel) }, (_, index) => lane(index)));
summarize();
process.exit(failures.length === 0 ? 0 : 1);

function whole(name: string, text: string): number {
  if (!/^\d+$/.test(text)) {
    process.stderr.write(`--${name}: expected a whole number, found "${text}"\n${USAGE}`);
    process.exit(2);
  }
  return Number(text);
}

/** It ends by itself with this process. */
function beBusy(): void {
  const program = 'const parent = process.ppid; while (process.ppid === parent);';
  const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore', detached: true });
  running.add(child);
}

async function lane(index: number): Promise<void> {
  const copy = new FreshCopy(join(work, `copy-${index}`));
  const dataDir = join(work, `data-${index}`);
  while (begun < count) {
    const number = (begun += 1);
    copy.refresh();
    rmSync(dataDir, { recursive: true, force: true });
    await firstStart(number, copy.folder, dataDir);
    if (number % PROGRESS_EVERY === 0)
      say(`${number} of ${count} begun, ${failures.length} failed, load ${loadavg()[0]?.toFixed(1)}`);
  }
}

async function firstStart(number: number, folder: string, dataDir: string): Promise<void> {
  const http = await freeTcpPort();
  const { from, to } = await freeUdpRange(100);
  const child = spawn(process.execPath, ['runtime/cli/ringmaster.mjs', 'start'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      RINGMASTER_HTTP_PORT: String(http),
      RINGMASTER_SIP_PORT: String(await freeSipPort()),
      RINGMASTER_RTP_PORTS: `${from}-${to}`,
      RINGMASTER_DATA_DIR: dataDir,
    },
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => (output = (output + piece.toString()).slice(-OUTPUT_LIMIT)));
  }
  const fail = (what: string): void => {
    failures.push(`start ${number} ${what}`);
    say(`start ${number} ${what}\n${output}`);
  };
  const ended = once(child, 'exit');
  let at = performance.now();
  const health = `http://127.0.0.1:${http}/healthz`;
  while (!(await answers(health)) && child.exitCode === null && child.signalCode === null) {
    if (performance.now() - at < readyMs) await delay(LOOK_MS);
    else break;
  }
  if (child.exitCode !== null || child.signalCode !== null) {
    fail(`ended with ${child.exitCode ?? child.signalCode} instead of becoming ready`);
  } else if (performance.now() - at >= readyMs) {
    fail(`was not ready after ${readyMs / 1000} s`);
  } else {
    seconds.ready.push((performance.now() - at) / 1000);
    at = performance.now();
    child.kill('SIGTERM');
    const late = new AbortController();
    const end = await Promise.race([ended, delay(stopMs, undefined, { signal: late.signal })]);
    late.abort();
    seconds.stop.push((performance.now() - at) / 1000);
    if (end === undefined) fail(`had not ended ${stopMs / 1000} s after SIGTERM`);
    else if (end[0] !== 0) fail(`ended with ${end[0] ?? end[1]} after SIGTERM`);
  }
  if (output.includes(REPEATED)) repeated += 1;
  kill(child);
  await ended;
  running.delete(child);
  done += 1;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}

/** Kills a process group. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function summarize(): void {
  const of = (times: number[]): string =>
    [0.5, 0.99, 1].map((part) => (percentile(times, part) ?? 0).toFixed(1)).join(' / ');
  say(`seconds until ready, median / 99 % / longest: ${of(seconds.ready)}`);
  say(`seconds from SIGTERM to the end: ${of(seconds.stop)}`);
  say(`nodes that made their database more than once: ${repeated}`);
  for (const failure of failures) say(failure);
  say(`${done} of ${count} first starts done, ${failures.length} failed`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
