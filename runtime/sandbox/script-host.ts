/** Scripts in components. */
import type { ScriptFormat } from './sandbox.ts';
import type { Json } from './json.ts';
import type { ScriptUsage } from './limits.ts';

/** A script of a component. */
export interface ScriptBlock {
  readonly source: string;
  readonly format: ScriptFormat;
  /** Variables that the script may read and change. */
  readonly vars: Readonly<Record<string, Json>>;
  /** Largest duration in milliseconds, including waits. */
  readonly wallMs?: number;
  /** Ends it immediately. */
  readonly signal: AbortSignal;
}

export interface ScriptBlockResult {
  readonly value: Json;
  /** Final values of `vars`. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly usage: ScriptUsage;
}

/**
 * Runs scripts of components (`context.script`). It belongs to a run, which determines version, commands, limits and
 * events.
 */
export interface ScriptHost {
  /** @throws SandboxError */
  run(block: ScriptBlock): Promise<ScriptBlockResult>;
}
