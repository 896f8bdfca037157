import type { Sandbox } from '../../sandbox/index.ts';
import { checkFile } from '../checker/check-file.ts';
import type { ModuleCheckOptions } from '../checker/check-module.ts';
import type { CheckResult } from '../checker/check-scenario.ts';
import type { ComponentRegistry } from '../component.ts';
import { parseDuration } from '../duration.ts';
import { ArgumentError } from '../errors.ts';
import { formatProblem } from '../problem.ts';
import type { Program } from '../program.ts';
import type { Value } from '../values.ts';
import type { SelectEntities } from './simulated-model.ts';
import { compiling } from './compiling.ts';
import { simulate } from './simulation.ts';
import { PATIENCE_MS } from './test-file.ts';
import { transcript } from './transcript.ts';

/** What the scripted caller does. */
export interface SimulateOptions {
  /** What is pressed each time the scenario listens, separated by commas: `1,2#`. Nothing between two commas: silence. */
  readonly press?: string;
  /** The caller hangs up this long after the call is connected, e.g. `10s`. Default: two minutes. */
  readonly hangUpAfter?: string;
  /** Values of the scenario's parameters. With parameters that must be given it starts without a call, to make one. */
  readonly args?: Readonly<Record<string, Value>>;
  /** The same as texts, which are read as the parameter's type. */
  readonly argTexts?: Readonly<Record<string, string>>;
  /** Scripts wait for a debugger. */
  readonly debug?: boolean;
  /** How the data model reads filters. */
  readonly select?: SelectEntities;
  /** Opens the sandbox, for scenarios with scripts. */
  readonly openSandbox?: () => Promise<Sandbox>;
}

/**
 * The `simulate` command: runs a scenario file against a scripted caller on a virtual clock, without SIP, and prints
 * what happened.
 * @returns the exit code: 0 when the scenario completed or the caller hung up, 1 when it failed or has mistakes, 2 when
 * the options are wrong
 */
export async function runSimulate(
  file: string,
  options: SimulateOptions,
  components: ComponentRegistry,
  out: (line: string) => void,
): Promise<number> {
  const hangsUpAfter = options.hangUpAfter === undefined ? PATIENCE_MS : parseDuration(options.hangUpAfter);
  if (hangsUpAfter === undefined) {
    out(`"${options.hangUpAfter}" is no duration: write e.g. 10s`);
    return 2;
  }
  const checked = await read({ file, components, ...compiling(options.openSandbox) });
  if (checked === undefined) {
    out(`${file}: the file cannot be read`);
    return 2;
  }
  const { program, problems } = checked;
  if (!program) {
    for (const problem of problems) out(formatProblem(problem));
    return 1;
  }
  try {
    const args = { ...options.args, ...readArguments(program, options.argTexts ?? {}) };
    const presses = options.press === undefined ? [] : options.press.split(',');
    const simulation = await simulate(program, {
      script: { presses, hangsUpAfter },
      args,
      components,
      openSandbox: options.openSandbox,
      select: options.select,
      debug: options.debug ?? false,
    });
    for (const line of transcript(simulation)) out(line);
    return simulation.outcome.status === 'failed' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    out(error.message);
    return 2;
  }
}

/** A text stays one where a text is wanted; else it is JSON. What is none is left for the run to refuse. */
function readArguments(program: Program, texts: Readonly<Record<string, string>>): Record<string, Value> {
  const readOne = ([name, text]: [string, string]): [string, Value] => {
    if (program.parameters.find((parameter) => parameter.name === name)?.type === 'string') return [name, text];
    try {
      return [name, JSON.parse(text) as Value];
    } catch {
      return [name, text];
    }
  };
  return Object.fromEntries(Object.entries(texts).map(readOne));
}

async function read(options: ModuleCheckOptions): Promise<CheckResult | undefined> {
  try {
    return await checkFile(options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return undefined;
  }
}
