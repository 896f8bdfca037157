import type { Program, Start } from './program.ts';

/**
 * What a scenario is wanted for: `call`: a call is to be served; `service`: it is to run without one, by request,
 * schedule or event.
 */
export type ScenarioUse = 'call' | 'service';

/** A scenario that something beside a call starts. */
export interface StartingScenario {
  readonly id: string;
  readonly starts: readonly Start[];
  /** The one domain that has it; undefined: a file, which all domains have. */
  readonly domain: string | undefined;
}

/** Where the programs of a node come from. */
export interface ScenarioSource {
  /** What a new run of this id gets in a domain; undefined when there is no such scenario, or none that can run. */
  program(id: string, domain: string, use?: ScenarioUse): Promise<Program | undefined>;
  starting(): readonly StartingScenario[];
  /** Looks for new, changed and vanished files. */
  scan(): Promise<void>;
}
