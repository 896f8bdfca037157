/** `npm run bench`, or `npm run bench -- calls rest`: measures, prints tables, and removes its files. */
import { calls } from './calls.ts';
import { cluster } from './cluster.ts';
import { codecs } from './codecs.ts';
import { conference } from './conference.ts';
import { consolePage } from './console.ts';
import { events } from './events.ts';
import { hostile } from './hostile.ts';
import { QUIET_GC } from './hostile/quiet-gc.ts';
import { media } from './media.ts';
import { memory } from './memory.ts';
import { model } from './model.ts';
import { operations } from './operations.ts';
import { overload } from './overload.ts';
import { pairs } from './pairs.ts';
import { rest } from './rest.ts';
import { rtp } from './rtp.ts';
import { scripts } from './scripts.ts';
import { start } from './start.ts';
import { traces } from './traces.ts';
import { waiting } from './waiting.ts';
import { type Benchmark, machine, table, Unavailable } from './support/report.ts';

const BENCHMARKS: Readonly<Record<string, Benchmark>> = { calls, rest, start, rtp, model, scripts };
/** Long, or with special needs: only run when named. */
const BY_NAME: Readonly<Record<string, Benchmark>> = {
  cluster,
  codecs,
  conference,
  console: consolePage,
  events,
  hostile,
  media,
  memory,
  operations,
  overload,
  pairs,
  traces,
  waiting,
};

const all = { ...BENCHMARKS, ...BY_NAME };
const named = process.argv.slice(2);
const unknown = named.filter((name) => all[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(all).join(', ')}\n`);
  process.exit(1);
}
if (named.join() === 'hostile' && process.execArgv.length === 0) {
  // Its garbage collection must not delay the phones it measures; the flags can only be set at the start of a process.
  process.execve?.(process.execPath, [process.execPath, ...QUIET_GC, ...process.argv.slice(1)], process.env);
}
const wanted = named.length > 0 ? named : Object.keys(BENCHMARKS);
for (const [name, benchmark] of Object.entries(all)) {
  if (!wanted.includes(name)) continue;
  print(`\n${benchmark.title}\n${machine()}`);
  try {
    const figures = await benchmark.run((line) => print(`  ${line}`));
    print(`\n${table(figures)}`);
  } catch (error) {
    // The others can still be measured.
    print(`  not measured: ${error instanceof Unavailable ? error.message : String((error as Error).stack)}`);
    process.exitCode = 1;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
