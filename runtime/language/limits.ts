import type { ScriptLimits } from '../sandbox/index.ts';
import { parseDuration } from './duration.ts';
import { suggestName } from './problem.ts';

/** Resource limits of one run, by their names in scenarios. Times are milliseconds. */
export interface ScenarioLimits {
  /** Processor time of its scripts in all. */
  readonly cpu: number;
  /** Processor time of a script between two waits. */
  readonly activation: number;
  /** From start to end, with waits; undefined: no limit. */
  readonly wall: number | undefined;
  /** Megabytes of a script's heap and buffers. */
  readonly memory: number;
  /** Components that a module waits for at once. */
  readonly pending: number;
  /** Lines in the log. */
  readonly log: number;
  /** Blocks in a row without a wait. */
  readonly steps: number;
}

export type LimitsWanted = { readonly [Name in keyof ScenarioLimits]?: number };

/** Default limits. */
const DEFAULTS: ScenarioLimits = {
  cpu: 10_000,
  activation: 500,
  wall: undefined,
  memory: 32,
  pending: 64,
  log: 1000,
  steps: 1000,
};

/** The smallest and largest allowed values. */
const RANGES: Readonly<
  Record<keyof ScenarioLimits, { readonly from: number; readonly to: number; readonly time: boolean }>
> = {
  cpu: { from: 10, to: 600_000, time: true },
  activation: { from: 10, to: 5000, time: true },
  wall: { from: 100, to: 7 * 24 * 3_600_000, time: true },
  memory: { from: 8, to: 512, time: false },
  pending: { from: 1, to: 1000, time: false },
  log: { from: 0, to: 100_000, time: false },
  steps: { from: 10, to: 100_000, time: false },
};

const NAMES = Object.keys(RANGES) as readonly (keyof ScenarioLimits)[];

/** A mistake in one limit. */
export interface LimitsProblem {
  readonly name: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** Reads limits as authors and operators write them: `{cpu: 5s, memory: 64}`. */
export function readLimits(value: unknown): {
  readonly limits: LimitsWanted;
  readonly problems: readonly LimitsProblem[];
} {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { limits: {}, problems: [{ name: '', message: 'limits must be a map', suggestion: 'e.g. { cpu: 5s }' }] };
  const limits: { -readonly [Name in keyof ScenarioLimits]?: number } = {};
  const problems: LimitsProblem[] = [];
  for (const [key, given] of Object.entries(value)) {
    const name = NAMES.find((candidate) => candidate === key);
    if (name === undefined) {
      problems.push({ name: key, message: `there is no limit "${key}"`, ...suggestion(key) });
      continue;
    }
    const { from, to, time } = RANGES[name];
    const number = time && typeof given === 'string' ? parseDuration(given) : time ? undefined : given;
    if (typeof number === 'number' && number >= from && number <= to && Number.isInteger(number)) limits[name] = number;
    else problems.push({ name: key, message: `the limit "${key}" must be ${range(from, to, time)}` });
  }
  return { limits, problems };
}

/** The first mistake in an operator's limits; undefined without one. */
export function limitsProblem(value: unknown): string | undefined {
  const [first] = readLimits(value).problems;
  return first?.message;
}

/**
 * The limits of a run: those of the scenario or the defaults, capped by those of its domain.
 * @param allowed the operator's limits for the domain
 */
export function effectiveLimits(wanted: LimitsWanted = {}, allowed: LimitsWanted = {}): ScenarioLimits {
  const of = (name: keyof ScenarioLimits): number | undefined => {
    const own = wanted[name] ?? DEFAULTS[name];
    const most = allowed[name];
    return most === undefined ? own : Math.min(own ?? Number.POSITIVE_INFINITY, most);
  };
  return { ...DEFAULTS, ...Object.fromEntries(NAMES.map((name) => [name, of(name)])) };
}

/** The limits for the sandbox; the run enforces the time from start to end itself. */
export function scriptLimits({ cpu, activation, memory, pending, log }: ScenarioLimits): Partial<ScriptLimits> {
  return { cpuMs: cpu, activationMs: activation, memoryMb: memory, pendingCommands: pending, logLines: log };
}

function suggestion(key: string): { readonly suggestion?: string } {
  const text = suggestName(key, NAMES);
  return { suggestion: text ?? `there is: ${NAMES.join(', ')}` };
}

function range(from: number, to: number, time: boolean): string {
  return time ? `a duration from ${from}ms to ${to / 1000}s` : `a whole number from ${from} to ${to}`;
}
