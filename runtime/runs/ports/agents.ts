/** Agents of queues as authors, programs and queues see them. */
import type { DomainName } from '../../domain-name/index.ts';
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
  /** Its sound, where another node has the call: a channel of a media server. */
  readonly media?: { readonly server: string; readonly uuid: string };
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

/** The agents of a domain, by number. Of a cluster, another node may have to be asked. */
export interface Agents {
  /** An agent with settings of its own, or one that a queue knows. */
  get(domain: DomainName, number: string): AgentView | undefined | Promise<AgentView | undefined>;
  /** In the order of their numbers. */
  list(domain: DomainName): readonly AgentView[] | Promise<readonly AgentView[]>;
  /**
   * Changes settings, or makes a new agent, who is ready.
   * @throws ScenarioError code `too_many`
   */
  set(domain: DomainName, number: string, change: Partial<AgentSettings>): AgentView | Promise<AgentView>;
  /** Settles when the changes are kept. */
  kept(): Promise<void>;
  /** @returns false for an unknown agent */
  remove(domain: DomainName, number: string): boolean | Promise<boolean>;
  /**
   * Waits for an agent. The agent is free of calls, not away, not in its wrap-up, has the skills, and no caller who comes
   * first could take it.
   * @returns a function that ends the wait
   */
  seek(domain: DomainName, seeker: Seeker): () => void;
  /** The agent has answered. @param talk its conversation, as long as there is one */
  talks(domain: DomainName, number: string, run: string, talk: () => AgentTalk | undefined): void;
  /** Frees the agent that is held for a run. @param pauseMs its wrap-up in milliseconds */
  release(domain: DomainName, number: string, run: string, pauseMs: number): void;
  /** The conversation of an agent with a caller of a queue. */
  talkOf(domain: DomainName, number: string): AgentTalk | undefined | Promise<AgentTalk | undefined>;
  /** How many agents take callers of this kind, now or after the present ones. */
  staffed(domain: DomainName, seeker: Pick<Seeker, 'queue' | 'skills' | 'agents'>): number | Promise<number>;
}
