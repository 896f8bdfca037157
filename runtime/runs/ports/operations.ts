import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';
import type { Sensitive } from '../run/sensitive.ts';

/** Operations on calls and conferences, for scenarios. */
export interface OperationPort {
  /**
   * Starts an operation in a domain, and waits for its answer.
   * @param name lower-case name, e.g. `refer`
   * @param signal ends the wait; the operation continues
   * @param sensitive what the scenario's callers pressed or said in secret, which may be among the parameters
   * @throws ScenarioError codes `parameter`, `dialog_not_found`, `ambiguous`, `not_applicable`, `forbidden`
   */
  call(
    name: string,
    domain: DomainName,
    parameters: Readonly<Record<string, Value>>,
    signal: AbortSignal,
    sensitive?: Sensitive,
  ): Promise<Value>;
}
