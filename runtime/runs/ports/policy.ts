import type { DomainName } from '../../domain-name/index.ts';
import type { ArmedRuns } from '../armed-runs.ts';
import type { CallPort } from '../call-port.ts';
import type { LimitsWanted, Program } from '../../language/index.ts';

/** The operator's rules for scenarios. */
export interface ScenarioPolicy {
  /** Upper limits for scenarios of a domain; omitted ones have their defaults. */
  limits(domain: DomainName): LimitsWanted;
  /** Secrets for a run of this scenario. */
  secrets(domain: DomainName, program: Program): Secrets;
  /** True when this run must wait for a debugger. */
  debugs(program: Program, domain: DomainName, call: CallPort | undefined): boolean;
  /** Scenarios armed for a debugger; undefined when the operator does not allow debuggers. */
  readonly debugging: Debugging | undefined;
}

/** Access for debuggers. */
export interface Debugging {
  readonly port: number;
  readonly armed: ArmedRuns;
}

/** The secrets of a domain: scenarios see placeholders, and components insert the values. */
export interface Secrets {
  /** Placeholders by name. */
  readonly placeholders: Readonly<Record<string, string>>;
  readonly reveal: Reveal;
}

/** Replaces placeholders by secrets. @param escape escapes a value for its surroundings */
export type Reveal = (text: string, escape?: (value: string, placeholder: string) => string) => string;

export const NO_SECRETS: Secrets = { placeholders: {}, reveal: (text) => text };

/** A policy without restrictions and secrets, as in a simulation. */
export const OPEN_POLICY: ScenarioPolicy = {
  limits: () => ({}),
  secrets: () => NO_SECRETS,
  debugs: () => false,
  debugging: undefined,
};
