/** What the host and a worker process tell each other; the body of a frame is named beside each header. */
import type { ScriptProblem } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { ScriptFormat, ScriptKind } from './sandbox.ts';

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
  | {
      readonly type: 'start';
      readonly run: number;
      readonly program: number;
      readonly cpuMs: number;
      readonly activationMs: number;
      readonly memoryMb: number;
      readonly messageBytes: number;
      readonly debug: boolean;
      /** The script's time, where it is not the machine's: milliseconds since the epoch. */
      readonly now?: number;
    }
  /** Body: one job of an activation. */
  | { readonly type: 'job'; readonly run: number; readonly now?: number }
  /** The run is over; its isolate may be used again or thrown away. */
  | { readonly type: 'end'; readonly run: number; readonly reusable: boolean }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspect'; readonly run: number }
  | { readonly type: 'uninspect'; readonly run: number }
  | { readonly type: 'ping' };

/** Why a worker ended a run by itself. */
export type Failure =
  | { readonly kind: 'limit'; readonly limit: LimitName }
  | { readonly kind: 'compile'; readonly problems: readonly ScriptProblem[] }
  /** Thrown while the module was loaded. */
  | { readonly kind: 'threw'; readonly message: string; readonly stack: string }
  /** The isolate cannot be used, by no limit that can be named. */
  | { readonly kind: 'lost'; readonly message: string };

export interface RunProgress {
  readonly cpuMs: number;
  readonly activations: number;
  readonly memoryBytes: number;
  /** Jobs that the script has been given after the start. */
  readonly jobs: number;
}

export type ToHost =
  | { readonly type: 'ready' }
  | { readonly type: 'pong'; readonly rss: number }
  | { readonly type: 'compiled'; readonly request: number; readonly problems: readonly ScriptProblem[] }
  /** Body: what the script said in this activation, a JSON list; `over`: it came to its end, and the worker forgot it. */
  | ({ readonly type: 'said'; readonly run: number; readonly unhandled?: string; readonly over?: true } & RunProgress)
  | ({ readonly type: 'failed'; readonly run: number; readonly failure: Failure } & RunProgress)
  /** An isolate does not stop: the process has to go once its other runs are done. */
  | { readonly type: 'wounded'; readonly run: number; readonly reason: string }
  /** The run waits for a debugger. */
  | { readonly type: 'debuggable'; readonly run: number }
  /** It has limits of time again. */
  | { readonly type: 'undebugged'; readonly run: number }
  /** Body: a message of the inspector protocol. */
  | { readonly type: 'inspected'; readonly run: number };
