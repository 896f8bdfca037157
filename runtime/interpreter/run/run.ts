import type { CallPort } from '../call-port.ts';
import type { Clock } from '../clock.ts';
import type { Report } from '../component.ts';
import type { Log } from '../log.ts';
import type { Program } from '../program.ts';
import type { Value } from '../values.ts';
import type { RunPhase } from './phase.ts';
import { ScenarioRun } from './scenario-run.ts';
import type { TraceEntry } from './trace.ts';

/** Limits of one run. */
export interface RunLimits {
  /** Blocks in a row none of which waited. */
  readonly stepsWithoutWait: number;
  /** Trace entries kept. */
  readonly traceEntries: number;
  /** Milliseconds the `finally` branch may take. */
  readonly finallyMs: number;
  /** Milliseconds a block may take to end after it was told to. */
  readonly graceMs: number;
}

export interface RunOptions {
  /** The call the scenario serves; a run without one can use no component that needs a call. */
  readonly call?: CallPort;
  /** Values of the parameters. */
  readonly args?: Readonly<Record<string, Value>>;
  readonly log: Log;
  /** Milestones the scenario reports, as they happen, possibly after the run. */
  readonly report?: (report: Report) => void;
  readonly clock?: Clock;
  readonly limits?: Partial<RunLimits>;
  readonly id?: string;
}

export interface RunError {
  /** A ScenarioError's code, `call_state`, or `internal`. */
  readonly code: string;
  readonly message: string;
  readonly block: string;
}

export interface RunOutcome {
  /**
   * `completed`: the scenario came to its end. `ended`: the call was over first. `failed`: a block failed and had no
   * `error` exit. `stopped`: by `stop`.
   */
  readonly status: 'completed' | 'ended' | 'failed' | 'stopped';
  readonly error?: RunError;
  /** Why the run was stopped or the call ended. */
  readonly reason?: string;
  /** Fields the scenario reported. */
  readonly result: Readonly<Record<string, Value>>;
  /** What the scenario returned; absent when it did not. */
  readonly value?: Value;
  readonly steps: number;
  readonly start: number;
  readonly milliseconds: number;
}

/** A scenario that is running, or has run. */
export interface Run {
  readonly id: string;
  readonly program: Program;
  /** Snapshot of what it did so far. */
  readonly trace: readonly TraceEntry[];
  readonly phase: RunPhase;
  /** Never rejects. */
  readonly finished: Promise<RunOutcome>;
  /** Ends the main branch; `finally` still runs. A second call ends `finally` too. */
  stop(reason: string): void;
}

/**
 * Starts a scenario. Its first block begins once the caller has returned to the event loop.
 * @throws ArgumentError for arguments the parameters do not allow
 */
export function startRun(program: Program, options: RunOptions): Run {
  return new ScenarioRun(program, options);
}
