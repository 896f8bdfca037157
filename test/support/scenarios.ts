import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { type CheckResult, checkScenario } from '../../runtime/language/checker/check-scenario.ts';
import { type Clock, systemClock } from '../../runtime/runs/clock.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import { formatProblem, isMistake } from '../../runtime/language/problem.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { Run, RunOptions } from '../../runtime/runs/run/run.ts';
import type { RunOutcome } from '../../runtime/runs/run/outcome.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from './log.ts';

export const projectFolder = path.resolve(import.meta.dirname, '../..');
export const promptsFolder = path.join(projectFolder, 'scenarios/examples/prompts');

export function check(source: string): CheckResult {
  return checkScenario(source, { file: 'test.yaml', components, promptsFolder });
}

/** Mistakes as `line:col: message; suggestion`. */
export function problems(source: string): string[] {
  return check(source).problems.map((problem) => formatProblem(problem).replace(/^test\.yaml:/, ''));
}

/** The program of a scenario without mistakes; it may have warnings. */
export function program(source: string): Program {
  const { program: checked, problems: found } = check(source);
  expect(found.filter(isMistake).map(formatProblem)).to.deep.equal([]);
  return checked as Program;
}

/** A source of scenarios for a runner. */
export function sourceOf(find: (id: string) => Program | undefined) {
  const known = { program: async (id: string) => find(id) };
  return { ...known, snapshot: () => known };
}

export async function programFromFile(file: string): Promise<Program> {
  const { program: checked, problems: found } = checkScenario(await readFile(file, 'utf8'), {
    file,
    components,
    promptsFolder,
  });
  expect(found.map(formatProblem)).to.deep.equal([]);
  return checked as Program;
}

export interface Simulated {
  readonly run: Run;
  readonly call: SimulatedCall;
  readonly clock: VirtualClock;
  readonly outcome: RunOutcome;
  /** `block -> exit` of every step. */
  readonly steps: readonly string[];
  /** Actions on the call. */
  readonly events: readonly string[];
}

/** Services of runs as in a simulation, partly replaced by the test. */
export function services(own: Partial<RunServices> = {}, clock: Clock = systemClock): RunServices {
  return { ...simulatedServices({ clock }), ...own };
}

/** Runs a program to its end with a virtual clock. */
export async function simulate(
  scenario: Program | string,
  script: CallScript = {},
  options: Partial<Omit<RunOptions, 'call' | 'clock'>> & {
    readonly during?: (run: Run, clock: VirtualClock, call: SimulatedCall) => void;
  } = {},
): Promise<Simulated> {
  const clock = new VirtualClock();
  const call = new SimulatedCall(clock, script);
  const { during, ...rest } = options;
  const run = startRun(typeof scenario === 'string' ? program(scenario) : scenario, {
    log: silentLog,
    services: simulatedServices({ clock }),
    ...rest,
    call,
    clock,
  });
  during?.(run, clock, call);
  const outcome = await clock.run(run.finished);
  const steps = run.trace.map(({ block, exit }) => `${block} -> ${exit ?? '?'}`);
  return { run, call, clock, outcome, steps, events: call.events.map(({ what }) => what) };
}
