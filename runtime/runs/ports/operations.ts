import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';

/** Operations on calls and conferences, for scenarios. */
export interface OperationPort {
  /**
   * Starts an operation in a domain, and waits for its answer.
   * @param name lower-case name, e.g. `refer`
   * @param signal ends the wait; the operation continues
   * @throws ScenarioError codes `parameter`, `dialog_not_found`, `ambiguous`, `not_applicable`, `forbidden`
   */
  call(
    name: string,
    domain: DomainName,
    parameters: Readonly<Record<string, Value>>,
    signal: AbortSignal,
  ): Promise<Value>;
}
