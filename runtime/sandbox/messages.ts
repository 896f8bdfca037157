/** What the host and a worker process tell each other; the body of a frame is named beside each header. */
import type { ScriptProblem } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { ScriptFormat, ScriptKind } from './sandbox.ts';

/** A run that is to go on in a worker, and what it may use there. */
export interface Entry {
  readonly run: number;
  readonly program: number;
  /** What it shares with the other runs of its scenario. */
  readonly family: string;
  readonly cpuMs: number;
  readonly activationMs: number;
  readonly memoryMb: number;
  readonly messageBytes: number;
  readonly debug: boolean;
  /** So many runs wait that this one gives up its isolate as soon as it waits. */
  readonly crowded: boolean;
  /** The script's time, where it is not the machine's: milliseconds since the epoch. */
  readonly now?: number;
}

export type ToWorker =
  /** Body: the source. Announces a program under a number; sent once to a worker. */
  | {
      readonly type: 'program';
      readonly program: number;
      readonly format: ScriptFormat;
      readonly kind: ScriptKind;
      readonly file: string;
      readonly line: number;
    }
  | { readonly type: 'forget'; readonly program: number }
  | { readonly type: 'compile'; readonly request: number; readonly program: number }
  /** Body: the first activation. */
  | ({ readonly type: 'start' } & Entry)
  /** Body: what a worker said of the run when it fell asleep, a line feed, and the first activation. A job follows. */
  | ({ readonly type: 'wake' } & Entry)
  /** Body: one job of an activation. Of a run that has just fallen asleep it is dropped, and comes again. */
  | { readonly type: 'job'; readonly run: number; readonly now?: number }
  /** The run has had what it may have: it fails, and tells what it used. */
  | { readonly type: 'halt'; readonly run: number; readonly limit: LimitName }
  /** The run is over; its isolate may be used again or thrown away. */
  | { readonly type: 'end'; readonly run: number; readonly reusable: boolean }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspect'; readonly run: number }
  | { readonly type: 'uninspect'; readonly run: number }
  /** No run comes any more: those that wait give up their isolates, for the process ends with the last of them. */
  | { readonly type: 'retire' }
  | { readonly type: 'ping' };

/** Why a worker ended a run by itself. */
export type Failure =
  | { readonly kind: 'limit'; readonly limit: LimitName }
  | { readonly kind: 'compile'; readonly problems: readonly ScriptProblem[] }
  /** Thrown while the module was loaded. */
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string }
  /** The isolate cannot be used, by no limit that can be named. */
  | { readonly kind: 'lost'; readonly message: string };

/** What a run has used. */
export interface RunUsage {
  readonly cpuMs: number;
  readonly activations: number;
  readonly memoryBytes: number;
}

export interface RunProgress extends RunUsage {
  /** Jobs that the script has been given after the start. */
  readonly jobs: number;
}

export type ToHost =
  /** `rss`: resident memory in bytes. */
  | { readonly type: 'ready'; readonly rss: number }
  | { readonly type: 'pong'; readonly rss: number }
  | { readonly type: 'compiled'; readonly request: number; readonly problems: readonly ScriptProblem[] }
  /** No source that may have types can be prepared here any more: the process has to be replaced. */
  | { readonly type: 'worn' }
  /** Of a program that came for that too late. */
  | { readonly type: 'uncompiled'; readonly request: number }
  /** The same of a run, which has not begun, or slept. The worker has forgotten it. */
  | { readonly type: 'refused'; readonly run: number }
  /** Body: what the script said in this activation, a JSON list; `over`: it came to its end, and the worker forgot it. */
  | ({ readonly type: 'said'; readonly run: number; readonly unhandled?: string; readonly over?: true } & RunProgress)
  /** Of a turn that goes on. Body: what was written to the log in it since the last time, a JSON list, or nothing. */
  | ({ readonly type: 'working'; readonly run: number } & RunUsage)
  | ({ readonly type: 'failed'; readonly run: number; readonly failure: Failure } & RunProgress)
  /** Body: all that is left of the run here, for whoever wakes it. The worker has forgotten it. */
  | { readonly type: 'asleep'; readonly run: number }
  /** An isolate does not stop: the process has to go once its other runs are done. */
  | { readonly type: 'wounded'; readonly run: number; readonly reason: string }
  /** The run waits for a debugger. */
  | { readonly type: 'debuggable'; readonly run: number }
  /** It has limits of time again. */
  | { readonly type: 'undebugged'; readonly run: number }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspected'; readonly run: number };
