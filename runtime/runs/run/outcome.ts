/** How a run ended. */
import type { ScriptUsage } from '../../sandbox/index.ts';
import type { ErrorCode, Value } from '../../language/index.ts';

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Empty in a module, and for an error outside of blocks. */
  readonly block: string;
  /** Stack in a script, innermost first: `helper (menu.ts:9:16)`. */
  readonly stack?: readonly string[];
  /** Structured details from the component. */
  readonly details?: Readonly<Record<string, Value>>;
}

export interface RunOutcome {
  /**
   * `completed`: the scenario reached its end. `ended`: the call ended first. `failed`: a block without an `error` exit
   * failed. `stopped`: ended by `stop`.
   */
  readonly status: 'completed' | 'ended' | 'failed' | 'stopped';
  readonly error?: RunError;
  /** Reason of the stop, or of the call's end. */
  readonly reason?: string;
  /** Reported fields. */
  readonly result: Readonly<Record<string, Value>>;
  /** Return value; absent without one. */
  readonly value?: Value;
  /** Final values of declared variables of a scenario of blocks. */
  readonly variables?: Readonly<Record<string, Value>>;
  readonly steps: number;
  /** Sandbox resources used by a module. */
  readonly usage?: ScriptUsage;
  readonly start: number;
  readonly milliseconds: number;
}
