/** Runs one scripted-caller test. */
import { ArgumentError, type Program } from '../../language/index.ts';
import { type Simulation, type SimulationOptions, calledBy, simulate } from '../simulation/simulation.ts';
import { mismatches } from './expectations.ts';
import type { ScenarioTest } from './test-file.ts';

/** What a test runs with, beside its own content. */
export type TestTools = Pick<SimulationOptions, 'components' | 'openSandbox' | 'select' | 'classes' | 'scenarios'>;

export interface TestRun {
  /** The unmet expectations, one sentence each; empty: the test passes. */
  readonly found: readonly string[];
  /** Undefined when the scenario could not be started. */
  readonly simulation: Simulation | undefined;
}

/** Runs a test and compares. */
export async function runTest(test: ScenarioTest, program: Program, tools: TestTools): Promise<TestRun> {
  const { turns, patience, phones, args, variables, http, operations, model, queues, agents, mailboxes, from, to, at } =
    test;
  const script = { turns, phones, hangsUpAfter: patience, ...calledBy(from, to) };
  const given = {
    script,
    args,
    variables,
    http,
    operations,
    model,
    queues,
    agents,
    mailboxes,
    ...(at === undefined ? {} : { at }),
  };
  try {
    const simulation = await simulate(program, { ...given, ...tools });
    return { simulation, found: mismatches(simulation, test.expect) };
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return { simulation: undefined, found: [error.message] };
  }
}
