import type { Value } from '../../language/index.ts';

/** The call operations, as scenarios start them. */
export interface OperationPort {
  /**
   * Starts an operation in a domain, and waits for its answer.
   * @param name lower-case name, e.g. `refer`
   * @param signal ends the waiting; the operation goes on
   * @throws ScenarioError codes `parameter`, `dialog_not_found`, `ambiguous`, `not_applicable`, `forbidden`
   */
  call(name: string, domain: string, parameters: Readonly<Record<string, Value>>, signal: AbortSignal): Promise<Value>;
}
