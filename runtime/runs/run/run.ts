/** The interface of a run, and its options. */
import type { DomainName } from '../../domain-name/index.ts';
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
import type { SavedRun } from './saved-run.ts';
import type { Sensitive } from './sensitive.ts';

/** Limits of one run. */
export interface RunLimits {
  /** Consecutive blocks without a wait. */
  readonly stepsWithoutWait: number;
  /** Trace entries kept. */
  readonly traceEntries: number;
  /** Milliseconds for the `finally` branch. */
  readonly finallyMs: number;
  /** Milliseconds between a block's abort and its end. */
  readonly graceMs: number;
}

export interface RunOptions {
  /** The call of the scenario; a run without one cannot use components that need a call. */
  readonly call?: CallPort;
  /** Values of the parameters. */
  readonly args?: Readonly<Record<string, Value>>;
  /** Start values of variables; a module has none. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly log: Log;
  /** Receives the scenario's milestones, possibly after the end of the run. */
  readonly report?: (report: Report) => void;
  readonly clock?: Clock;
  readonly limits?: Partial<RunLimits>;
  readonly id?: string;
  /** Services of the node, beside the call. */
  readonly services: RunServices;
  /** Language tag, of a route or of the run that starts this one; undefined: the scenario's or the domain's. */
  readonly language?: string | undefined;
  /** Domain of a run without a call. */
  readonly domain?: DomainName;
  /** Goes on with a run of another node. */
  readonly resume?: SavedRun | undefined;
  /** Sensitive values among the start values; default: none. */
  readonly sensitive?: Sensitive | undefined;
}

/** A running or finished scenario. */
export interface Run {
  readonly id: string;
  readonly program: Program;
  readonly domain: DomainName;
  /** Start time, milliseconds since the epoch. */
  readonly start: number;
  /** Snapshot of the trace so far. */
  readonly trace: readonly TraceEntry[];
  readonly phase: RunPhase;
  /** What no view of the run shows. */
  readonly sensitive: Sensitive;
  /** Scenarios started by this one. */
  readonly children: readonly Run[];
  /** Its call, own or borrowed, and its legs. */
  readonly calls: readonly CallPort[];
  /** The outcome; undefined while it runs. */
  readonly outcome: RunOutcome | undefined;
  /** Never rejects. */
  readonly finished: Promise<RunOutcome>;
  /** Settles with `finished`, or earlier when the run has given up its call and only cleans up. */
  readonly settled: Promise<RunOutcome>;
  /** Ends the main branch; `finally` still runs. A second call ends `finally` too. */
  stop(reason: string): void;
  /**
   * What another node needs to go on with the run; undefined unless it waits without a call, and has waited so long. It may
   * not go on before the promise settles.
   * @param waitedMs milliseconds
   */
  save(waitedMs: number): SavedRun | Promise<SavedRun | undefined> | undefined;
  /** Another node has it now: its end here is not recorded. */
  readonly isTaken: boolean;
  /** Delivers a message from another run; false after the end of this run. */
  send(message: Message): boolean;
}
