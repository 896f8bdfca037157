import type { ScriptFormat } from './sandbox.ts';
import type { Json } from './json.ts';
import type { ScriptUsage } from './limits.ts';

/** A script inside a scenario, as a component asks for it. */
export interface ScriptBlock {
  readonly source: string;
  readonly format: ScriptFormat;
  /** Variables it sees and may change. */
  readonly vars: Readonly<Record<string, Json>>;
  /** Milliseconds it may take, waiting included. */
  readonly wallMs?: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

export interface ScriptBlockResult {
  readonly value: Json;
  /** `vars` as the script left them. */
  readonly vars: Readonly<Record<string, Json>>;
  readonly usage: ScriptUsage;
}

/**
 * What a run offers to components that run scripts (`context.script`). It knows the run: version, commands, limits and
 * events come from there.
 */
export interface ScriptHost {
  /** @throws SandboxError */
  run(block: ScriptBlock): Promise<ScriptBlockResult>;
}
