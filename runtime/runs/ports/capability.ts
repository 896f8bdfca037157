import { ScenarioError } from '../../language/index.ts';

/** The error of a component on a node that lacks a service. */
export function unavailable(message: string): ScenarioError {
  return new ScenarioError('unavailable', message);
}
