/** `npm run bench`, or `npm run bench -- calls rest`: measures, prints tables, and leaves nothing behind. */
import { calls } from './calls.ts';
import { rest } from './rest.ts';
import { rtp } from './rtp.ts';
import { start } from './start.ts';
import { type Benchmark, machine, table, Unavailable } from './support/report.ts';

const BENCHMARKS: Readonly<Record<string, Benchmark>> = { calls, rest, start, rtp };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => BENCHMARKS[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(BENCHMARKS).join(', ')}\n`);
  process.exit(1);
}
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
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
