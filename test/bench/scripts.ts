import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { components } from '../../runtime/component-registry/index.ts';
import { runCheck } from '../../runtime/workbench/check-command.ts';
import { checkScenario } from '../../runtime/language/checker/check-scenario.ts';
import type { Log } from '../../runtime/runs/log.ts';
import type { Program } from '../../runtime/language/program.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { runTests } from '../../runtime/workbench/tests/test-command.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { Phone } from '../phones/phone.ts';
import { TestNode } from '../support/node.ts';
import { percentile } from './support/percentile.ts';
import type { Benchmark, Figure } from './support/report.ts';
import { systemClock } from '../../runtime/runs/clock.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';

const BARE = fileURLToPath(new URL('scripts/bare.ts', import.meta.url));
const BLOCKS = 400;
/** Successive blocks of a run, before the floor is measured. */
const IN_A_ROW = 20;
const WARM_UP = 2;
const LIGHT = 'let n = 0; for (const d of vars.digits) n = n * 10 + Number(d); vars.n = n; return n % 97;';
const HEAVY = 'let n = 0; for (let i = 0; i < 2e6; i++) n = (n * 31 + i) % 1000003; return n;';
const VARS = { digits: '12345', n: 0 };
const STEPS = 50_000;
const TESTS = 1000;
const FILES = 500;
const CALLS = 30;

/** Costs of scenarios and their scripts. */
export const scripts: Benchmark = {
  title: 'scripts: script blocks beside bare isolated-vm in a process of its own, and the commands for authors',
  async run(progress) {
    const figures = [
      ...(await blocks(progress)),
      await steps(),
      ...(await commands(progress)),
      ...(await firstBlock()),
    ];
    return figures;
  },
};

/** In turns, so that both are measured under the same conditions. */
async function blocks(progress: (line: string) => void): Promise<Figure[]> {
  // With the priority of the floor.
  const sandbox = await openSandbox({ workers: 1, nice: getPriority() });
  const bare = fork(BARE, { execArgv: [] });
  try {
    const figures: Figure[] = [];
    for (const [name, source, count] of [
      ['light', LIGHT, BLOCKS],
      ['2 million steps', HEAVY, BLOCKS / 10],
    ] as const) {
      const ours: number[] = [];
      const floor: number[] = [];
      for (let i = 0; i < WARM_UP + count / IN_A_ROW; i += 1) {
        const own = await inARow(() => inSandbox(sandbox, source));
        const other = await inARow(() => inBare(bare, source));
        if (i < WARM_UP) continue;
        ours.push(...own);
        floor.push(...other);
      }
      progress(`${name}: ${percentile(ours, 0.5)?.toFixed(2)} / floor ${percentile(floor, 0.5)?.toFixed(2)} ms`);
      figures.push({ what: `ms a block, ${name}, p50`, figure: percentile(ours, 0.5), floor: percentile(floor, 0.5) });
    }
    return figures;
  } finally {
    bare.disconnect();
    await sandbox.close();
  }
}

/** Milliseconds of each. */
async function inARow(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < IN_A_ROW; i += 1) times.push(await timed(work));
  return times;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function inSandbox(sandbox: Sandbox, source: string): Promise<unknown> {
  return sandbox.start({
    version: source,
    source,
    format: 'js',
    kind: 'block',
    file: 'bench.js',
    vars: VARS,
    commands: [],
    onCommand: async () => null,
  }).finished;
}

async function inBare(bare: ChildProcess, source: string): Promise<void> {
  const answered = once(bare, 'message');
  bare.send({ source, vars: VARS });
  await answered;
}

/** Blocks per second of a computing run: a counter, a condition, a jump. */
async function steps(): Promise<Figure> {
  const source = `id: s
variables: { n: 0 }
start: count
blocks:
  count: { set: { n: "\${n + 1}" }, next: more }
  more: { if: n < ${STEPS / 2}, exits: { then: count, else: end } }
`;
  const { program } = checkScenario(source, { file: 's.yaml', components });
  const quiet = (): void => undefined;
  const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const limits = { stepsWithoutWait: STEPS + 10 };
  const milliseconds = await timed(
    () => startRun(program as Program, { log, limits, services: simulatedServices({ clock: systemClock }) }).finished,
  );
  return { what: 'blocks a second', figure: (STEPS / milliseconds) * 1000 };
}

async function commands(progress: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ringmaster-bench-'));
  try {
    await mkdir(join(folder, 'prompts'));
    for (let i = 0; i < FILES; i += 1) await writeFile(join(folder, `s${i}.yaml`), scenario(`s${i}`));
    await writeFile(join(folder, 's0.test.yaml'), testFile());
    const said: string[] = [];
    const checked = await measured(() => runCheck([folder], components, (line) => said.push(line)));
    const tested = await measured(() => runTests([folder], components, (line) => said.push(line)));
    progress(said.at(-1) ?? '');
    return [
      { what: `s of processor time, check of ${FILES} scenarios`, ...checked },
      { what: `s of processor time, ${TESTS} scenario tests`, ...tested },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Processor time, which other load does not change; the load is noted. */
async function measured(work: () => Promise<unknown>): Promise<Pick<Figure, 'figure' | 'note'>> {
  const before = process.cpuUsage();
  const wall = await timed(work);
  const { user, system } = process.cpuUsage(before);
  return { figure: (user + system) / 1e6, note: `${(wall / 1000).toFixed(1)} s by the clock` };
}

/** Twenty blocks, the size of a menu with two levels. */
function scenario(id: string): string {
  const lines = Array.from({ length: 8 }, (_, i) => {
    const exits = `exits: { 1: n${i}, 2: q${i + 1}, failed: bye }`;
    return `  q${i}: { menu: { prompt: "tone:%(200,0,${400 + i})", tries: 1 }, ${exits} }\n  n${i}: { set: { n: "\${n + 1}" }, next: q${i + 1} }\n`;
  });
  return `id: ${id}
variables: { n: 0 }
start: pick_up
blocks:
  pick_up: { answer: , next: q0 }
${lines.join('')}  q8: { log: "\${string(n)}", next: bye }
  bye: { hangup: , next: end }
`;
}

function testFile(): string {
  const one = (i: number): string =>
    `  - name: t${i}
    steps: [{ presses: "1" }, { presses: "2" }, { presses: "1" }, { presses: "2" }, { presses: "1" }, { presses: "1" }, { presses: "1" }, { presses: "2" }]
    expect: { status: completed }
`;
  return `tests:\n${Array.from({ length: TESTS }, (_, i) => one(i)).join('')}`;
}

/** From the INVITE to the 200 of the first block, `answer`: routing, the start of the run, and an endpoint. */
async function firstBlock(): Promise<Figure[]> {
  const node = await TestNode.start();
  const phone = await Phone.start({
    login: 'alice',
    domain: 'demo.local',
    password: 'demo-alice',
    registrar: node.sip,
  });
  try {
    await phone.register();
    const times: number[] = [];
    for (let i = 0; i < CALLS; i += 1) {
      const began = performance.now();
      const call = await phone.call('*55echo');
      await call.answered();
      times.push(performance.now() - began);
      await call.hangup();
    }
    return [{ what: 'ms from INVITE to the 200 of the first block, p50', figure: percentile(times, 0.5) }];
  } finally {
    await phone.stop();
    await node.remove();
  }
}
