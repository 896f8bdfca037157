import { ScenarioError } from '../../language/index.ts';

/** What a component throws where the node lacks what it needs. */
export function unavailable(message: string): ScenarioError {
  return new ScenarioError('unavailable', message);
}
