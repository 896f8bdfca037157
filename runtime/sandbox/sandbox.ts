/** The interface of the script sandbox. */
import type { ScriptProblem } from './errors.ts';
import type { Json } from './json.ts';
import type { ScriptLimits, ScriptUsage } from './limits.ts';
import type { RepetitionLimit } from './repetition.ts';
import type { ScriptRecord } from './script-record.ts';

export type ScriptFormat = 'js' | 'ts';

/**
 * `module`: an ES module, `export default async function (call, args)`; its return value is the run's.
 * `block`: the body of an async function with `vars` and `args`; may change `vars` and return a value.
 */
export type ScriptKind = 'module' | 'block';

/** A module that a script imports. */
export interface ScriptModule {
  /** The text of its imports: `./hours.ts`. All modules of a script are in one folder. */
  readonly specifier: string;
  readonly source: string;
  readonly format: ScriptFormat;
  /** Name in stacks, problems and the debugger. */
  readonly file: string;
}

export interface ScriptSource {
  readonly source: string;
  readonly format: ScriptFormat;
  readonly kind: ScriptKind;
  /** Name in stacks, problems and the debugger. */
  readonly file: string;
  /** First line of the source within the file, from 1; default 1. */
  readonly line?: number | undefined;
  /** The modules that a `module` imports, also those that these import. `compile` ignores them and links no import. */
  readonly modules?: readonly ScriptModule[] | undefined;
}

/**
 * @property code the source without types, with unchanged lines and columns; for one with mistakes only if its types
 * could be removed
 */
export type CompileResult =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly problems: readonly ScriptProblem[]; readonly code?: string };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** An event for the script's `events.on(type, ...)`. */
export interface ScriptEvent {
  readonly type: string;
  readonly [field: string]: Json;
}

export interface StartOptions extends ScriptSource {
  /** Runs of one version may reuse an isolate one after another, never at the same time. */
  readonly version: string;
  /** Whose figures the run counts to, e.g. a domain; see `SandboxFigures`. */
  readonly owner?: string;
  /** `args` in the script. */
  readonly args?: Json;
  /** `vars` in a block. */
  readonly vars?: Readonly<Record<string, Json>>;
  /**
   * Dotted names of the script's functions: `sleep`, `call.play`, `http.request`. A name may be both a function and the
   * prefix of others.
   */
  readonly commands: readonly string[];
  /** `secrets.NAME` in the script: placeholders that commands may replace by the secrets. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly limits?: Partial<ScriptLimits>;
  /**
   * Executes a command. Its result must be JSON (undefined becomes null). An exception becomes a ScenarioError in the
   * script with its `code` and `message`, `internal` without a code. The signal aborts when the run ends, or the script
   * cancels the command. Its `id` is unique in the run.
   */
  readonly onCommand: (name: string, args: readonly Json[], signal: AbortSignal, id: number) => Promise<unknown>;
  /** Goes on with a script of another node, whose pending commands begin again. */
  readonly resume?: ScriptRecord | undefined;
  /** Called at the start, and with every answer and event; the promise settles when the script has handled it. */
  readonly onWork?: (work: Promise<unknown>) => void;
  readonly onLog?: (level: LogLevel, text: string) => void;
  /** `interrupt` ended a wait for an event in the script. */
  readonly onHeard?: () => void;
  /** The script's clock, milliseconds since the epoch; default: the machine's. */
  readonly clock?: () => number;
  /** Ends the run immediately; `finished` rejects with ScriptAbortedError. */
  readonly signal?: AbortSignal;
  /**
   * Enables a debugger; the script waits up to a minute for it before its first line, and has no time limits while it
   * is connected. `file` should be an absolute path or a URL, because breakpoints use it.
   */
  readonly debug?: boolean;
  /**
   * Called when the debugger disconnected before the end of the script, or never connected: time limits apply from then
   * on.
   */
  readonly onUndebugged?: () => void;
  /** Title of the run in the debugger. */
  readonly title?: string;
}

export interface ScriptOutcome {
  readonly value: Json;
  /** Final values of `vars`. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly usage: ScriptUsage;
}

export interface ScriptRun {
  /** @throws SandboxError: ScriptError, LimitError, SandboxLostError, ScriptAbortedError, ScriptCompileError */
  readonly finished: Promise<ScriptOutcome>;
  /** As last reported by the worker. */
  usage(): ScriptUsage;
  /** True when the script has a listener for keys: `events.on('dtmf', ...)`. */
  readonly listensForKeys: boolean;
  /** Sends an event to the script; dropped without a listener. */
  emit(event: ScriptEvent): void;
  /** Ends the present or next wait for an event: `events.next` throws it. */
  interrupt(reason: { readonly code: string; readonly message: string }): void;
  /**
   * What another node needs to go on with it. Nothing may be sent to the script meanwhile.
   * @returns a limit: it can never be repeated any more; undefined: it works at present, or its process does not answer
   */
  save(): Promise<ScriptRecord | RepetitionLimit | undefined>;
  /** Debugger address (`ws://127.0.0.1:...`) of a run started with `debug`; rejects when the run ends first. */
  readonly debuggerUrl: Promise<string> | undefined;
}

export interface Sandbox {
  compile(source: ScriptSource): Promise<CompileResult>;
  /** @throws SandboxError when the sandbox is closed, or the run needs a debugger and debugging is disabled */
  start(options: StartOptions): ScriptRun;
  /** Ends all runs with SandboxLostError, and the processes. */
  close(): Promise<void>;
}

/** Figures of a sandbox for operators. */
export interface SandboxFigures {
  /** Ids of the processes. */
  readonly pids: readonly number[];
  /** Processes: `busy` ones have runs; `waiting` runs wait for a process. */
  pool(): { readonly open: number; readonly busy: number; readonly waiting: number; readonly limit: number };
  /** Processor time of all runs so far, and memory of the live ones, by owner. */
  usage(): ReadonlyMap<string, OwnerUsage>;
}

/** What the runs of one owner use. */
export interface OwnerUsage {
  /** Milliseconds; never falls. */
  readonly cpuMs: number;
  /** Heap and buffers of the live runs at their last measurement, in bytes. */
  readonly memoryBytes: number;
}
