/** Agents of queues as authors, programs and queues see them. */
import type { Side } from './dialogs.ts';

/** What an agent wants: calls, or none. */
export type AgentState = 'ready' | 'away';
/** `busy`: in a call that no queue gave it. */
export type AgentStatus = AgentState | 'ringing' | 'talking' | 'wrap_up' | 'busy';

export interface AgentSettings {
  readonly state: AgentState;
  /** Queues that it serves, beside those that name it. */
  readonly queues: readonly string[];
  readonly skills: readonly string[];
}

export interface AgentView extends AgentSettings {
  readonly number: string;
  readonly status: AgentStatus;
  /** Begin of the status, milliseconds since the epoch; of `busy` and `ready` that of the last change known. */
  readonly since: number;
  /** The queue of its present caller; empty: none. */
  readonly queue: string;
}

/** The live conversation of an agent. */
export interface AgentTalk {
  readonly dialogid: string;
  readonly side: Side;
  /** Aborted at its end. */
  readonly ended: AbortSignal;
}

export interface SuperviseOptions extends AgentTalk {
  readonly mode: 'listen' | 'whisper' | 'barge';
  readonly signal: AbortSignal;
}

/** A caller who waits for an agent. */
export interface Seeker {
  /** Id of its run. */
  readonly run: string;
  readonly queue: string;
  /** Higher ones come first; among equal ones the earlier. */
  readonly priority: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The agent must have all of them. */
  readonly skills: readonly string[];
  /** Numbers of the agents; undefined: those that serve the queue by their settings. */
  readonly agents: readonly string[] | undefined;
  /** Called once, with an agent who is held for this caller until `release`. */
  readonly offered: (number: string) => void;
}
