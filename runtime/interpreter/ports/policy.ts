import type { CallPort } from '../call-port.ts';
import type { LimitsWanted } from '../limits.ts';
import type { Program } from '../program.ts';

/** What the operator of a node allows scenarios. */
export interface ScenarioPolicy {
  /** The most that scenarios of a domain may use; what is left out is the usual. */
  limits(domain: string): LimitsWanted;
  /** What a run of this scenario gets. */
  secrets(domain: string, program: Program): Secrets;
  /** Whether this run waits for a debugger. */
  debugs(program: Program, domain: string, call: CallPort | undefined): boolean;
  /**
   * Makes the next run of a scenario in a domain wait for a debugger.
   * @param from number of the caller whose call it has to be; empty: anybody's
   * @returns the port at which debuggers are let in; undefined when the operator lets none in
   */
  arm(scenario: string, domain: string, from: string): number | undefined;
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
  arm: () => undefined,
};
