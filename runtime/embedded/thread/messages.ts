/** Messages between a server's worker thread and its handle. */
import type { ProgramInput } from './run-program.ts';

/** Start data of a thread. */
export interface ThreadData<Options> {
  readonly options: Options;
  /** URL of the module in {@link ServerHost.atRest}. */
  readonly atRest?: string;
}

/** From the handle to the thread. */
export type ToThread =
  | { readonly type: 'stats'; readonly id: number }
  /** A program has ended. `output` is undefined if it failed. */
  | { readonly type: 'ran'; readonly id: number; readonly output: Uint8Array | undefined }
  /** A change of the running server. */
  | { readonly type: 'reconfigure'; readonly change: object }
  | { readonly type: 'close' };

/** From the thread to its handle. */
export type FromThread<Stats> =
  | { readonly type: 'listening'; readonly addresses: Readonly<Record<string, string>> }
  /** The server could not be opened: `listen` is set for an address in use, otherwise an option is invalid. */
  | {
      readonly type: 'failed';
      readonly name: string;
      readonly message: string;
      readonly listen?: { readonly code: string; readonly address: string; readonly what: string };
    }
  | { readonly type: 'stats'; readonly id: number; readonly stats: Stats }
  /** An event for the log: see {@link ServerHost.notice}. */
  | { readonly type: 'notice'; readonly message: string; readonly details: object }
  /** Runs a program, or ends it: see {@link ServerHost.run}. */
  | { readonly type: 'run'; readonly id: number; readonly work: ProgramInput }
  | { readonly type: 'stop'; readonly id: number };
