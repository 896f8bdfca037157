import type { ScriptProblem } from './errors.ts';
import type { Json } from './json.ts';
import type { ScriptLimits, ScriptUsage } from './limits.ts';

export type ScriptFormat = 'js' | 'ts';

/**
 * `module`: an ES module, `export default async function (call, args)`; its return value is the run's.
 * `block`: the body of an async function that sees `vars` and `args`; may change `vars`, and return a value.
 */
export type ScriptKind = 'module' | 'block';

export interface ScriptSource {
  readonly source: string;
  readonly format: ScriptFormat;
  readonly kind: ScriptKind;
  /** Named in stacks, problems and the debugger. */
  readonly file: string;
  /** The line of the file, from 1, at which the source begins; 1 without it. */
  readonly line?: number | undefined;
}

/**
 * @property code the source without types, every line and column where the author wrote it; of one with mistakes only
 *   where its types could be told
 */
export type CompileResult =
  | { readonly ok: true; readonly code: string }
  | { readonly ok: false; readonly problems: readonly ScriptProblem[]; readonly code?: string };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Something that happened, for the script's `events.on(type, ...)`. */
export interface ScriptEvent {
  readonly type: string;
  readonly [field: string]: Json;
}

export interface StartOptions extends ScriptSource {
  /** Runs of one version may use one isolate after the other, never at the same time. */
  readonly version: string;
  /** `args` inside. */
  readonly args?: Json;
  /** `vars` inside, for a block. */
  readonly vars?: Readonly<Record<string, Json>>;
  /**
   * Functions the script gets, by the dotted name they have inside: `sleep`, `call.play`, `http.request`. A name may be
   * both a function and the start of others.
   */
  readonly commands: readonly string[];
  /** Inside, `secrets.NAME`: texts that stand for secrets, which commands may put the secrets in place of. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly limits?: Partial<ScriptLimits>;
  /**
   * Carries out a command. Its result must be JSON (undefined counts as null). What it throws is thrown inside as a
   * ScenarioError with the `code` and `message` of the error, `internal` without a code. The signal aborts when the run
   * is over, or the script cancelled the command.
   */
  readonly onCommand: (name: string, args: readonly Json[], signal: AbortSignal) => Promise<unknown>;
  /** Called at the start, and with every answer or event that the script is given: settled when the script has dealt with it. */
  readonly onWork?: (work: Promise<unknown>) => void;
  readonly onLog?: (level: LogLevel, text: string) => void;
  /** A wait inside for an event was ended by `interrupt`. */
  readonly onHeard?: () => void;
  /** What the script takes for the time, milliseconds since the epoch; default: the machine's clock. */
  readonly clock?: () => number;
  /** Ends the run at once; `finished` rejects with ScriptAbortedError. */
  readonly signal?: AbortSignal;
  /**
   * Lets a debugger in; the script waits a minute for it before its first line, and has no limits of time as long as it is
   * there. `file` should be an absolute path or a URL, for breakpoints are set by it.
   */
  readonly debug?: boolean;
  /** Called when the debugger went away before the script was over, or none came: from then on there are limits of time. */
  readonly onUndebugged?: () => void;
  /** What a debugger calls it. */
  readonly title?: string;
}

export interface ScriptOutcome {
  readonly value: Json;
  /** `vars` as the block left them. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly usage: ScriptUsage;
}

export interface ScriptRun {
  /** @throws SandboxError: ScriptError, LimitError, SandboxLostError, ScriptAbortedError, ScriptCompileError */
  readonly finished: Promise<ScriptOutcome>;
  /** As last heard from the sandbox. */
  usage(): ScriptUsage;
  /** Whether the script has a listener for keys: `events.on('dtmf', ...)`. */
  readonly listensForKeys: boolean;
  /** Tells the script of something; without a listener inside it is dropped. */
  emit(event: ScriptEvent): void;
  /** Ends what waits inside for an event, or the next such wait: `events.next` throws it. */
  interrupt(reason: { readonly code: string; readonly message: string }): void;
  /** Where a debugger connects (`ws://127.0.0.1:...`), for a run started with `debug`; rejects when the run ends first. */
  readonly debuggerUrl: Promise<string> | undefined;
}

export interface Sandbox {
  compile(source: ScriptSource): Promise<CompileResult>;
  /** @throws SandboxError when the sandbox is closed, or allows no debugger and should */
  start(options: StartOptions): ScriptRun;
  /** Ends what runs with SandboxLostError, and the processes. */
  close(): Promise<void>;
}
