/** Messages between the host and a worker process; comments name the body of the frame. */
import type { ScriptProblem } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { RepetitionLimit } from './repetition.ts';
import type { ScriptFormat, ScriptKind, ScriptModule } from './sandbox.ts';

/** A run for a worker, and its limits there. */
export interface Entry {
  readonly run: number;
  readonly program: number;
  /** Key shared with the other runs of its scenario. */
  readonly family: string;
  readonly cpuMs: number;
  readonly activationMs: number;
  readonly memoryMb: number;
  readonly messageBytes: number;
  readonly debug: boolean;
  /** True: the run releases its isolate as soon as it waits, because many runs are waiting. */
  readonly crowded: boolean;
  /** The script's clock, unless it is the machine's: milliseconds since the epoch. */
  readonly now?: number;
}

export type ToWorker =
  /** Body: the source. Announces a program and its number; sent once per worker. */
  | {
      readonly type: 'program';
      readonly program: number;
      readonly format: ScriptFormat;
      readonly kind: ScriptKind;
      readonly file: string;
      readonly line: number;
      readonly modules?: readonly ScriptModule[];
    }
  | { readonly type: 'forget'; readonly program: number }
  | { readonly type: 'compile'; readonly request: number; readonly program: number }
  /** Body: the first activation. */
  | ({ readonly type: 'start' } & Entry)
  /** Body: the saved state of a sleeping run, a line feed, and the first activation. A job follows. */
  | ({ readonly type: 'wake' } & Entry)
  /** Body: one job of an activation. Dropped for a run that has just fallen asleep, and sent again. */
  | { readonly type: 'job'; readonly run: number; readonly now?: number }
  /** Asks for the state of a waiting run, which goes on here. Without an answer when it has just fallen asleep. */
  | { readonly type: 'save'; readonly run: number }
  /** The run exceeded a host limit: it fails and reports its usage. */
  | { readonly type: 'halt'; readonly run: number; readonly limit: LimitName }
  /** The run has ended; its isolate may be reused or disposed. */
  | { readonly type: 'end'; readonly run: number; readonly reusable: boolean }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspect'; readonly run: number }
  | { readonly type: 'uninspect'; readonly run: number }
  /** No further runs: waiting ones release their isolates, and the process ends with the last. */
  | { readonly type: 'retire' }
  | { readonly type: 'ping' };

/** Reason of a worker for ending a run by itself. */
export type Failure =
  | { readonly kind: 'limit'; readonly limit: LimitName }
  | { readonly kind: 'compile'; readonly problems: readonly ScriptProblem[] }
  /** Thrown while the module was loaded. */
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string }
  /** The isolate is unusable for a reason other than a limit. */
  | { readonly kind: 'lost'; readonly message: string };

/** Usage of a run. */
export interface RunUsage {
  readonly cpuMs: number;
  readonly activations: number;
  readonly memoryBytes: number;
}

export interface RunProgress extends RunUsage {
  /** Jobs handled after the start. */
  readonly jobs: number;
}

export type ToHost =
  /** `rss`: resident memory in bytes. */
  | { readonly type: 'ready'; readonly rss: number }
  | { readonly type: 'pong'; readonly rss: number }
  | { readonly type: 'compiled'; readonly request: number; readonly problems: readonly ScriptProblem[] }
  /** TypeScript can no longer be compiled in this process, which has to be replaced. */
  | { readonly type: 'compilerExhausted' }
  /** For a program that arrived too late for compilation. */
  | { readonly type: 'uncompiled'; readonly request: number }
  /** The same for a run that has not started, or slept. The worker has dropped it. */
  | { readonly type: 'refused'; readonly run: number }
  /** Body: output of the activation as a JSON list; `over`: the script ended, and the worker dropped it. */
  | ({ readonly type: 'output'; readonly run: number; readonly unhandled?: string; readonly over?: true } & RunProgress)
  /** A turn continues. Body: log entries since the last report as a JSON list, or nothing. */
  | ({ readonly type: 'working'; readonly run: number } & RunUsage)
  | ({ readonly type: 'failed'; readonly run: number; readonly failure: Failure } & RunProgress)
  /** Body: the saved state of the run. The worker has dropped it. */
  | { readonly type: 'asleep'; readonly run: number }
  /** Body: the saved state of a waiting run; empty: it works, or has exceeded the limit of those that can be repeated. */
  | { readonly type: 'saved'; readonly run: number; readonly exceeded?: RepetitionLimit }
  /** An isolate cannot be stopped: the process has to end after its other runs. */
  | { readonly type: 'damaged'; readonly run: number; readonly reason: string }
  /** The run waits for a debugger. */
  | { readonly type: 'debuggable'; readonly run: number }
  /** The time limits apply again. */
  | { readonly type: 'undebugged'; readonly run: number }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspected'; readonly run: number };
