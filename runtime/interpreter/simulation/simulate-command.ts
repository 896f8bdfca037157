import { readFile } from 'node:fs/promises';
import { checkScenario } from '../checker/check-scenario.ts';
import type { ComponentRegistry } from '../component.ts';
import { parseDuration } from '../duration.ts';
import { ArgumentError } from '../errors.ts';
import type { Log } from '../log.ts';
import { formatProblem } from '../problem.ts';
import type { Program } from '../program.ts';
import { type Run, type RunOutcome, startRun } from '../run/run.ts';
import type { TraceEntry } from '../run/trace.ts';
import type { Value } from '../values.ts';
import { type CallEvent, SimulatedCall } from './simulated-call.ts';
import { VirtualClock } from './virtual-clock.ts';

/** What the scripted caller does. */
export interface SimulateOptions {
  /** What is pressed each time the scenario listens, separated by commas: `1,2#`. Nothing between two commas: silence. */
  readonly press?: string;
  /** The caller hangs up this long after the call is connected, e.g. `10s`. Default: two minutes. */
  readonly hangUpAfter?: string;
  /** Values of the scenario's parameters. With parameters the scenario starts without a call, to make one. */
  readonly args?: Readonly<Record<string, Value>>;
}

/** A caller who says nothing hangs up at last: a scenario that listens for ever comes to an end. */
const PATIENCE_MS = 120_000;
const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

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
  const { program, problems } = checkScenario(await readFile(file, 'utf8'), { file, components });
  if (!program) {
    for (const problem of problems) out(formatProblem(problem));
    return 1;
  }
  try {
    const outcome = await simulate(program, { ...options, hangsUpAfter }, out);
    return outcome.status === 'failed' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    out(error.message);
    return 2;
  }
}

async function simulate(
  program: Program,
  options: SimulateOptions & { hangsUpAfter: number },
  out: (line: string) => void,
): Promise<RunOutcome> {
  const clock = new VirtualClock();
  const events = new Map<number, CallEvent[]>();
  let run: Run | undefined;
  const call = new SimulatedCall(clock, {
    direction: program.parameters.length > 0 ? 'outgoing' : 'incoming',
    presses: options.press === undefined ? [] : options.press.split(','),
    hangsUpAfter: options.hangsUpAfter,
    onEvent: (event) => {
      const step = run?.trace.at(-1)?.step ?? 0;
      events.set(step, [...(events.get(step) ?? []), event]);
    },
  });
  run = startRun(program, { call, args: options.args ?? {}, log: silent, clock });
  const outcome = await clock.run(run.finished);
  for (const entry of run.trace) {
    out(blockLine(entry));
    for (const event of events.get(entry.step) ?? []) out(`${seconds(event.at)}      ${event.what}`);
  }
  out(outcomeLine(outcome));
  return outcome;
}

function blockLine({ start, block, component, exit, variables, error }: TraceEntry): string {
  const changed = Object.entries(variables ?? {}).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return `${seconds(start)}  ${block} (${component}) -> ${exit ?? '?'}${changed.join('')}${error ? `: ${error.message}` : ''}`;
}

function outcomeLine({ status, error, reason, milliseconds }: RunOutcome): string {
  const why = error ? `: block ${error.block}: ${error.message}` : reason === undefined ? '' : `: ${reason}`;
  return `${seconds(milliseconds)}  ${status}${why}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(7)}s`;
}
