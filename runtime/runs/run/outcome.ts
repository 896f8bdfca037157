import type { ScriptUsage } from '../../sandbox/index.ts';
import type { ErrorCode, Value } from '../../language/index.ts';

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Empty in a module, and where it was no block's doing. */
  readonly block: string;
  /** Where in a script it was, innermost first: `helper (menu.ts:9:16)`. */
  readonly stack?: readonly string[];
  /** What the component says about it beside the text. */
  readonly details?: Readonly<Record<string, Value>>;
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
  /** Last values of the variables that a scenario of blocks declares. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly steps: number;
  /** What a module used of the sandbox. */
  readonly usage?: ScriptUsage;
  readonly start: number;
  readonly milliseconds: number;
}
