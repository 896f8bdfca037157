import type { Program } from '../../language/index.ts';
import { Family, type RunPlace } from './family.ts';
import { ModuleRun } from './module-run.ts';
import type { Run, RunOptions } from './run.ts';
import { ScenarioRun } from './scenario-run.ts';

/**
 * Starts a scenario. Its first block begins once the caller has returned to the event loop.
 * @throws ArgumentError for arguments the parameters do not allow
 */
export function startRun(program: Program, options: RunOptions): Run {
  return begin(program, options, { family: new Family(begin, options.sensitive), depth: 0, borrowedCall: false });
}

function begin(program: Program, options: RunOptions, place: RunPlace): Run {
  const { module } = program;
  return module ? new ModuleRun(program, module, options, place) : new ScenarioRun(program, options, place);
}
