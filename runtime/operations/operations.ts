import type { TObject } from 'typebox';
import type { Value } from '../language/values.ts';
import { ScenarioError } from '../language/errors.ts';
import type { OperationDefinition, OperationPlan, PlannedCall, PlanTools, Touched } from './definition.ts';
import { OperationError, problemOf } from './errors.ts';
import { observed } from './running/observed.ts';
import { parseParameters } from './request/parameters.ts';
import type { OperationRecord } from './running/record.ts';
import { operations as registered } from './registry.ts';
import { type OperationHandle, OperationRunner, type OperationServices } from './running/runner.ts';
import { findDialog, findDialogs, type Scope, withSelectors } from './request/target.ts';

export interface OperationRequest {
  readonly scope: Scope;
  /** The dialog, when the path names it; else a selector among the parameters does. */
  readonly dialogid?: string;
  /** As they came, unchecked. */
  readonly parameters: unknown;
  /** Who asks; absent for a scenario. */
  readonly userId?: string;
}

/** An operation that has begun, or one that is done because it only looks. */
export interface StartedOperation {
  /** Id of its record; absent when no scenario was needed. */
  readonly id?: string;
  /**
   * What the caller is answered.
   * @throws OperationError when the dialog was gone or changed by the time the operation came to it
   */
  readonly response: Promise<Value>;
  readonly handle?: OperationHandle;
}

/** What an operation would do. */
export interface OperationPreview {
  readonly dialogs: readonly Touched[];
  /** Absent for an operation that calls nobody. */
  readonly calls?: readonly PlannedCall[];
}

/** The call operations. Each of them is described by an `OperationDefinition` of the registry. */
export interface Operations {
  readonly definitions: ReadonlyMap<string, OperationDefinition>;
  /**
   * Starts an operation.
   * @throws ParameterError, OperationError, and nobody has noticed anything then; MissingScenarioError
   */
  start(name: string, request: OperationRequest): Promise<StartedOperation>;
  /** What an operation would touch, and whom it would call: everything that `start` checks is checked, nothing is done. */
  preview(name: string, request: OperationRequest): Promise<OperationPreview>;
  /**
   * What an operation did so far; kept for an hour after its end. A scope with a user sees the operations that the user
   * asked for.
   */
  read(scope: Scope, id: string): OperationRecord | undefined;
  /** The records that a scope sees, oldest first. */
  list(scope: Scope): readonly OperationRecord[];
  /** Operations whose scenario runs. */
  readonly running: number;
}

export interface OperationsServices extends OperationServices, PlanTools {
  /** Default: all there are. */
  readonly definitions?: readonly OperationDefinition[];
  /** Asked before a call begins that is no transfer of a live one: why it may not. */
  readonly overload?: () => { readonly reason: string; readonly retryAfterSeconds: number } | undefined;
}

export function createOperations(services: OperationsServices): Operations {
  const runner = new OperationRunner(services);
  const definitions = new Map((services.definitions ?? registered).map((each) => [each.name, each]));
  const named = new Map([...definitions].map(([name, { parameters }]) => [name, withSelectors(parameters)]));
  const planOf = async (name: string, request: OperationRequest) => {
    const definition = definitions.get(name);
    const selecting = named.get(name);
    if (!definition || !selecting) throw new OperationError({ kind: 'not_found', entity: `Operation ${name}` });
    try {
      return { definition, plan: await planned(services, definition, selecting, request) };
    } catch (error) {
      throw error instanceof ScenarioError ? (problemOf(error) ?? error) : error;
    }
  };
  const begin = async (name: string, request: OperationRequest): Promise<StartedOperation> => {
    const { definition, plan } = await planOf(name, request);
    const { scenario } = definition;
    if (scenario === undefined) return { response: Promise.resolve(plan.answer ?? null) };
    const overload = definition.startsCall && definition.target === 'none' ? services.overload?.() : undefined;
    if (overload) throw new OperationError({ kind: 'overload', ...overload });
    const { scope, userId } = request;
    const handle = await runner.start({ operation: name, scenario, domain: scope.domain, userId, plan });
    return { id: handle.id, response: handle.response, handle };
  };
  return {
    definitions,
    start: (name, request) =>
      observed(definitions.has(name) ? services.observer : undefined, name, () => begin(name, request)),
    preview: async (name, request) => {
      const { touches: dialogs, calls } = (await planOf(name, request)).plan;
      return calls === undefined ? { dialogs } : { dialogs, calls };
    },
    read: (scope, id) => runner.read(scope, id),
    list: (scope) => runner.list(scope),
    get running() {
      return runner.running;
    },
  };
}

/** Checks the parameters, finds the dialogs, and asks the operation what is to be done. */
async function planned(
  tools: PlanTools,
  definition: OperationDefinition,
  selecting: TObject,
  { scope, dialogid, parameters: given }: OperationRequest,
): Promise<OperationPlan> {
  const { parameters: schema, target } = definition;
  if (target === 'none')
    return definition.plan(tools, { scope, parameters: parseParameters(schema, given), dialogids: [] });
  const parameters = parseParameters(dialogid === undefined ? selecting : schema, given ?? {});
  const selector: Readonly<Record<string, unknown>> = dialogid === undefined ? parameters : { dialogid };
  const dialogids =
    target === 'one'
      ? [await findDialog(tools.calls, scope, selector)]
      : await findDialogs(tools.calls, scope, selector);
  if (dialogids.length === 0) throw new OperationError({ kind: 'dialog_not_found' });
  return definition.plan(tools, { scope, parameters, dialogids });
}
