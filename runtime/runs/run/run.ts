import type { CallPort } from '../call-port.ts';
import type { Clock } from '../clock.ts';
import type { Report } from './report.ts';
import type { Log } from '../log.ts';
import type { RunServices } from '../ports/services.ts';
import type { Program, Value } from '../../language/index.ts';
import type { Message } from './mailbox.ts';
import type { RunPhase } from './phase.ts';
import type { TraceEntry } from './trace.ts';
import type { RunOutcome } from './outcome.ts';

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
  /** Values that variables begin with; a module has none. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly log: Log;
  /** Milestones the scenario reports, as they happen, possibly after the run. */
  readonly report?: (report: Report) => void;
  readonly clock?: Clock;
  readonly limits?: Partial<RunLimits>;
  readonly id?: string;
  /** What the node offers beside the call. */
  readonly services: RunServices;
  /** Domain of a run without a call. */
  readonly domain?: string;
}

/** A scenario that is running, or has run. */
export interface Run {
  readonly id: string;
  readonly program: Program;
  readonly domain: string;
  /** When it began, milliseconds since the epoch. */
  readonly start: number;
  /** Snapshot of what it did so far. */
  readonly trace: readonly TraceEntry[];
  readonly phase: RunPhase;
  /** Scenarios that this one started. */
  readonly children: readonly Run[];
  /** Its call, its own or lent to it, and its legs. */
  readonly calls: readonly CallPort[];
  /** How it ended; undefined while it runs. */
  readonly outcome: RunOutcome | undefined;
  /** Never rejects. */
  readonly finished: Promise<RunOutcome>;
  /** For whoever waits for it: as `finished`, or before, when it has given up its call and only cleans up. */
  readonly settled: Promise<RunOutcome>;
  /** Ends the main branch; `finally` still runs. A second call ends `finally` too. */
  stop(reason: string): void;
  /** A message from another run; false when this one is over. */
  send(message: Message): boolean;
}
