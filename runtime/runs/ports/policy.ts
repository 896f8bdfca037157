import type { ArmedRuns } from '../armed-runs.ts';
import type { CallPort } from '../call-port.ts';
import type { LimitsWanted, Program } from '../../language/index.ts';

/** What the operator of a node allows scenarios. */
export interface ScenarioPolicy {
  /** The most that scenarios of a domain may use; what is left out is the usual. */
  limits(domain: string): LimitsWanted;
  /** What a run of this scenario gets. */
  secrets(domain: string, program: Program): Secrets;
  /** Whether this run waits for a debugger. */
  debugs(program: Program, domain: string, call: CallPort | undefined): boolean;
  /** For which runs debuggers were asked; undefined where the operator lets none in. */
  readonly debugging: Debugging | undefined;
}

/** Debuggers are let in. */
export interface Debugging {
  readonly port: number;
  readonly armed: ArmedRuns;
}

/** The secrets of a domain: scenarios see texts that stand for them, and components put the values in. */
export interface Secrets {
  /** By name, the text that stands for each. */
  readonly placeholders: Readonly<Record<string, string>>;
  readonly reveal: Reveal;
}

/** Puts secrets in place of the texts that stand for them. @param escape fits a value into its surroundings */
export type Reveal = (text: string, escape?: (value: string, placeholder: string) => string) => string;

export const NO_SECRETS: Secrets = { placeholders: {}, reveal: (text) => text };

/** A node that restricts nothing and has no secrets, as in a simulation. */
export const OPEN_POLICY: ScenarioPolicy = {
  limits: () => ({}),
  secrets: () => NO_SECRETS,
  debugs: () => false,
  debugging: undefined,
};
