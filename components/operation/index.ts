import { type OperationContext, type OperationHandle, OperationRunner, type OperationServices } from './operation.ts';
import { InviteParameters, parseParameters } from './parameters.ts';
import type { OperationRecord } from './record.ts';
import type { ResponseMode } from './response.ts';

/** The call operations: each one is a hidden scenario of `scenarios/service`. */
export interface Operations {
  /**
   * Calls X, and when X answers, transfers X to Y (specification, "POST / INVITE").
   * @param parameters the request body, unchecked
   * @throws ParameterError for parameters that are missing or not allowed; nobody is called
   */
  invite(parameters: unknown, context: OperationContext): Promise<OperationHandle>;
  /** What an operation did so far; kept for an hour after its end. */
  read(domain: string, id: string): OperationRecord | undefined;
  /** Operations whose scenario runs. */
  readonly running: number;
}

export function createOperations(services: OperationServices): Operations {
  const runner = new OperationRunner(services);
  return {
    invite: (parameters, context) => invite(runner, parameters, context),
    read: (domain, id) => runner.read(domain, id),
    get running() {
      return runner.running;
    },
  };
}

/** The scenario has the same parameters and defaults as the request, but for when it is answered. */
async function invite(runner: OperationRunner, given: unknown, context: OperationContext): Promise<OperationHandle> {
  const { response_mode: responseMode = 3, ...args } = parseParameters(InviteParameters, given);
  return runner.start(
    { operation: 'invite', scenario: 'invite', args, responseMode: responseMode as ResponseMode },
    context,
  );
}

export {
  MissingScenarioError,
  type OperationContext,
  type OperationHandle,
  type OperationServices,
} from './operation.ts';
export { InviteParameters, InviteResponse, ParameterError } from './parameters.ts';
export type { MilestoneRecord, OperationRecord } from './record.ts';
export type { OperationResponse, OperationResult, ResponseMode } from './response.ts';
