import type { DomainName } from '../domain-name/index.ts';
import type { Program, Start } from './program.ts';

/**
 * Purpose of a scenario. `call`: serves a call. `service`: runs without one, started by a request, schedule or event.
 */
export type ScenarioUse = 'call' | 'service';

/** What a program is wanted for. */
export interface ProgramRequest {
  /** Default `call`. */
  readonly use?: ScenarioUse;
  /** Number of the caller, who may have a version on trial. */
  readonly caller?: string | undefined;
}

/** A scenario with a start other than a call. */
export interface StartingScenario {
  readonly id: string;
  readonly starts: readonly Start[];
  /** Its domain; undefined for a file, which all domains share. */
  readonly domain: DomainName | undefined;
}

/** What a run may start. */
export interface ScenarioSnapshot {
  /** The program for a new run of this id in a domain; undefined for an unknown scenario or one with mistakes. */
  program(id: string, domain: DomainName, request?: ProgramRequest): Promise<Program | undefined>;
}

/** The source of a node's programs. */
export interface ScenarioSource extends ScenarioSnapshot {
  /** The scenarios as they are now: later changes and removals do not reach it. It costs no copy. */
  snapshot(): ScenarioSnapshot;
  starting(): readonly StartingScenario[];
  /** Loads new and changed files, and drops deleted ones. */
  scan(): Promise<void>;
}
