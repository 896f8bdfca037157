/** A waiting script as JSON, with which another node goes on. */
import type { Json } from './json.ts';
import type { RunProgress } from './messages.ts';
import type { ScriptUsage } from './limits.ts';

/** Changes with everything that makes older records unreadable. */
const FORM = 1;

/** A command in progress. */
export interface PendingCommand {
  readonly id: number;
  readonly name: string;
  readonly args: readonly Json[];
}

export interface ScriptRecord {
  readonly form: number;
  /** All that the script was given, as its worker writes it. */
  readonly given: string;
  readonly progress: RunProgress;
  readonly used: Pick<ScriptUsage, 'wallMs' | 'commands' | 'logLines' | 'logBytes'>;
  readonly listensForKeys: boolean;
  /** In the order of their begin. */
  readonly pending: readonly PendingCommand[];
}

export function scriptRecord(parts: Omit<ScriptRecord, 'form'>): ScriptRecord {
  return { form: FORM, ...parts };
}

/** True for a record that this node can go on with. */
export function isKnownRecord({ form }: Pick<ScriptRecord, 'form'>): boolean {
  return form === FORM;
}
