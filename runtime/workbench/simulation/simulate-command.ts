/** The `simulate` command. */
import path from 'node:path';
import { parse } from 'yaml';
import type { Sandbox } from '../../sandbox/index.ts';
import {
  ArgumentError,
  checkFile,
  type CheckResult,
  formatProblem,
  isTestFile,
  type ModuleCheckOptions,
  parseDuration,
  type Program,
  type Value,
} from '../../language/index.ts';
import type { ComponentRegistry } from '../../runs/index.ts';
import type { ClassesFor, SelectEntities } from './simulated-model.ts';
import { compiling } from './compiling.ts';
import { type PhoneScript, readPhone, readSteps } from './phones.ts';
import { HTTP_ANSWER } from './simulated-answers.ts';
import { type SimulationOptions, calledBy, simulate } from './simulation.ts';
import { PATIENCE_MS } from '../tests/test-file.ts';
import { parseTime } from '../tests/test-time.ts';
import { simulationView } from './simulation-view.ts';
import { transcript } from './transcript.ts';

/** Options of the `simulate` command. */
export interface SimulateOptions {
  /** Digits for each time the scenario listens, separated by commas: `1,2#`. Nothing between two commas: silence. */
  readonly press?: string;
  /** The caller's actions in words: `presses 1, says yes, hangs up after 5s`. */
  readonly steps?: string;
  /** Scripts of called phones, `NUMBER=WORDS` each: `102=busy`. */
  readonly phones?: readonly string[];
  /** Answers of servers, as in a file of tests: `GET https://a.b/c: { json: { x: 1 } }`. */
  readonly http?: readonly string[];
  /** Answers of call operations, as in a file of tests: `lookup: { ids: [a] }`. */
  readonly operations?: readonly string[];
  /** The caller's number, or `none` without a caller; and the dialled number. */
  readonly from?: string;
  readonly to?: string;
  /** Start time, e.g. `2026-11-23T09:30`. Default: now. */
  readonly at?: string;
  /** The caller hangs up this long after the call is connected, e.g. `10s`. Default: two minutes. */
  readonly hangUpAfter?: string;
  /** Values of parameters. A scenario with required parameters starts without a call, to place one. */
  readonly args?: Readonly<Record<string, Value>>;
  /** The same as texts, converted to the parameter's type. */
  readonly argTexts?: Readonly<Record<string, string>>;
  /** Prints one JSON object in place of lines: the run in the form of `trace --json`, with its events. */
  readonly json?: boolean;
  /** Scripts wait for a debugger. */
  readonly debug?: boolean;
  /** Evaluates filters of the data model. */
  readonly select?: SelectEntities;
  /** The classes for the scenarios of a folder. */
  readonly classesFor?: ClassesFor;
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
  const told = readOptions(options);
  if (typeof told === 'string') {
    out(told);
    return 2;
  }
  if (isTestFile(file)) {
    out(`${file} is a file of tests: npx ringmaster test ${file}`);
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
    // A debugger finds breakpoints by the whole path.
    const located = options.debug ? { ...program, file: path.resolve(file) } : program;
    const simulation = await simulate(located, {
      ...told,
      args,
      components,
      openSandbox: options.openSandbox,
      select: options.select,
      classes: await options.classesFor?.(path.dirname(file)),
      debug: options.debug ?? false,
    });
    if (options.json === true) out(JSON.stringify(simulationView(simulation), undefined, 2));
    else for (const line of transcript(simulation)) out(line);
    return simulation.outcome.status === 'failed' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    out(error.message);
    return 2;
  }
}

type Told = Pick<SimulationOptions, 'script' | 'at' | 'http' | 'operations'>;

/** @returns the parsed options, or an error message */
function readOptions(options: SimulateOptions): string | Told {
  const { hangUpAfter, press, steps, phones: called = [], from, to, at } = options;
  const http = readAnswers(options.http ?? [], isHttpAnswer);
  if (typeof http === 'string') return `${http}: write e.g. --http 'GET https://a.example/b: { json: { x: 1 } }'`;
  const operations = readAnswers(options.operations ?? []);
  if (typeof operations === 'string') return `${operations}: write e.g. --operation 'lookup: { ids: [a] }'`;
  const hangsUpAfter = hangUpAfter === undefined ? PATIENCE_MS : parseDuration(hangUpAfter);
  if (hangsUpAfter === undefined) return `"${hangUpAfter}" is no duration: write e.g. 10s`;
  if (press !== undefined && steps !== undefined) return 'name what is pressed among the steps: presses 1';
  const presses = press?.split(',') ?? [];
  const wrong = presses.find((keys) => !/^[0-9*#A-D]*$/.test(keys));
  if (wrong !== undefined) return `"${wrong}" are no keys: there is 0-9 * # A-D, and a comma before the next time`;
  const turns = steps === undefined ? undefined : readSteps(steps);
  if (turns && 'unknown' in turns) return `"${turns.unknown}" is nothing that a caller does: ${STEPS}`;
  const phones: Record<string, PhoneScript[]> = {};
  for (const each of called) {
    const [, number = '', words = ''] = /^([^=]+)=(.*)$/.exec(each) ?? [];
    const phone = readPhone(words);
    if (number === '' || phone === undefined) return `"${each}" says not what a phone does: ${PHONE}`;
    phones[number] = [...(phones[number] ?? []), phone];
  }
  const time = at === undefined ? Date.now() : parseTime(at);
  if (time === undefined) return `"${at}" is no time: write e.g. 2026-11-23T09:30+01:00`;
  return {
    at: time,
    http,
    operations,
    script: {
      ...(turns === undefined ? { presses } : { turns }),
      ...calledBy(from, to),
      phones,
      hangsUpAfter,
    },
  };
}

const STEPS = 'write e.g. presses 12#, silence, says yes, hears menu.wav, holds, resumes, hangs up after 5s';
const PHONE = 'write e.g. 102=answers after 5s, 102=busy, 102=no answer, 102=declines, 102=480';

/** Answers by what is asked for; several for the same come one after the other. @returns or an error message */
function readAnswers(
  texts: readonly string[],
  isAnswer: (answer: Value) => boolean = () => true,
): Record<string, Value> | string {
  const answers: Record<string, Value[]> = {};
  for (const text of texts) {
    const map = mapOf(text);
    if (map === undefined || !Object.values(map).flat().every(isAnswer)) return `"${text}" is no answer`;
    for (const [asked, answer] of Object.entries(map)) answers[asked] = [...(answers[asked] ?? []), ...[answer].flat()];
  }
  return answers;
}

/** A status, or a map of an answer's fields. */
function isHttpAnswer(answer: Value): boolean {
  if (typeof answer !== 'object' || answer === null) return typeof answer === 'number';
  return Object.keys(answer).every((field) => HTTP_ANSWER.includes(field));
}

function mapOf(text: string): Readonly<Record<string, Value>> | undefined {
  try {
    const value = parse(text) as unknown;
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? (value as Readonly<Record<string, Value>>) : undefined;
  } catch {
    return undefined;
  }
}

/** A text for a parameter of type string; otherwise JSON. Invalid JSON stays a text, which the run refuses. */
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
