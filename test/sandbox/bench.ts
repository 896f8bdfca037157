/**
 * What scripts cost, beside bare isolated-vm doing the same in the same run: `node test/sandbox/bench.ts [runs]`. Prints
 * milliseconds a script. Wall time depends on the machine's load, and sandbox processes stand behind everything else; the
 * time on the processor is that of all processes that took part.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import ivm from 'isolated-vm';
import { openSandbox } from '../../runtime/sandbox/index.ts';

const COUNT = Number(process.argv[2] ?? 300);
const LIGHT = 'let n = 0; for (const d of vars.digits) n = n * 10 + Number(d); vars.n = n; return n % 97;';
const HEAVY = 'let n = 0; for (let i = 0; i < 2e6; i++) n = (n * 31 + i) % 1000003; return n;';
const VARS = { digits: '12345', n: 0 };
const MEMORY_MB = 32;

const sandbox = await openSandbox({ workers: 1, nice: 0 });
const shared = new ivm.Isolate({ memoryLimit: MEMORY_MB });

/** Milliseconds on the processor of a process and its threads (Linux). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + sandbox.pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
}

const compiled = new Map<string, ivm.Script>();

/** A fresh context in `isolate`, plain data in and out, a time limit: what a block of ours promises, and no more. */
async function bare(isolate: ivm.Isolate, source: string, script?: ivm.Script): Promise<unknown> {
  const context = await isolate.createContext();
  const code = script ?? (await isolate.compileScript(`(async function (vars) {\n${source}\n})`));
  const block = (await code.run(context, { reference: true })) as ivm.Reference<(vars: object) => unknown>;
  const value: unknown = await block.apply(undefined, [VARS], {
    arguments: { copy: true },
    result: { promise: true, copy: true },
    timeout: 500,
  });
  block.release();
  context.release();
  return value;
}

async function bareShared(source: string): Promise<unknown> {
  let script = compiled.get(source);
  if (!script) {
    script = await shared.compileScript(`(async function (vars) {\n${source}\n})`);
    compiled.set(source, script);
  }
  return bare(shared, source, script);
}

async function bareFresh(source: string): Promise<unknown> {
  const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
  try {
    return await bare(isolate, source);
  } finally {
    isolate.dispose();
  }
}

let versions = 0;

function ours(source: string, version: string): Promise<unknown> {
  return sandbox.start({
    version,
    source,
    format: 'js',
    kind: 'block',
    file: 'bench.js',
    vars: VARS,
    commands: [],
    onCommand: async () => null,
  }).finished;
}

async function measure(name: string, once: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 20; i++) await once();
  const began = performance.now();
  const before = cpu();
  for (let i = 0; i < COUNT; i++) await once();
  const wall = (performance.now() - began) / COUNT;
  process.stdout.write(
    `${name.padEnd(44)} ${wall.toFixed(2)} ms, ${((cpu() - before) / COUNT).toFixed(2)} ms of CPU\n`,
  );
}

for (const [name, source] of [
  ['light', LIGHT],
  ['2 million steps', HEAVY],
] as const) {
  await measure(`${name}: sandbox`, () => ours(source, name));
  await measure(`${name}: bare, isolate kept, fresh context`, () => bareShared(source));
  await measure(`${name}: bare, fresh isolate`, () => bareFresh(source));
}
await measure('light: sandbox, a version never seen', () => ours(LIGHT, `v${++versions}`));

shared.dispose();
await sandbox.close();
