/** Checks, plans and starts operations. */
import type { TObject } from 'typebox';
import { ScenarioError, type Value } from '../language/index.ts';
import type { Sensitive } from '../runs/index.ts';
import type { OperationDefinition, OperationPlan, PlannedCall, PlanRequest, PlanTools, Touched } from './definition.ts';
import { OperationError, problemOf } from './errors.ts';
import { observed } from './running/observed.ts';
import { parseParameters } from './request/parameters.ts';
import type { OperationRecord } from './running/record.ts';
import { operations as registered } from './registry.ts';
import { type OperationHandle, OperationRunner, type OperationServices } from './running/runner.ts';
import { conferenceOf } from './request/conference.ts';
import { findDialog, findDialogs, type Scope, settingsOf } from './request/target.ts';

export interface OperationRequest {
  readonly scope: Scope;
  /** The target in the path; absent: the parameters name it. */
  readonly dialogid?: string;
  readonly confid?: string;
  readonly participantid?: string;
  /** The dialogs that the target's selector means, where that is known already; absent: they are looked up. */
  readonly targets?: readonly string[];
  /** As received, unchecked. */
  readonly parameters: unknown;
  /** The user that starts it; absent for a scenario. */
  readonly userId?: string;
  /** Sensitive values among the parameters, of the scenario that starts it. */
  readonly sensitive?: Sensitive | undefined;
}

/** A started operation. */
export interface StartedOperation {
  /** Id of its record; absent when no scenario was needed. */
  readonly id?: string;
  /**
   * The answer to the caller.
   * @throws OperationError when the dialog ended or changed before the operation reached it
   */
  readonly response: Promise<Value>;
  readonly handle?: OperationHandle;
}

/** What an operation would do. */
export interface OperationPreview {
  readonly dialogs: readonly Touched[];
  /** Absent for an operation that makes no calls. */
  readonly calls?: readonly PlannedCall[];
}

/** The operations on calls and conferences. Each of them is described by an `OperationDefinition` of the registry. */
export interface Operations {
  readonly definitions: ReadonlyMap<string, OperationDefinition>;
  /**
   * Starts an operation.
   * @throws ParameterError, OperationError, MissingScenarioError; nothing has changed then
   */
  start(name: string, request: OperationRequest): Promise<StartedOperation>;
  /** The dialogs that an operation would change, and its calls. It makes all checks of `start`, and changes nothing. */
  preview(name: string, request: OperationRequest): Promise<OperationPreview>;
  /** The record of an operation, kept for an hour after its end. A scope with a user sees that user's operations only. */
  read(scope: Scope, id: string): OperationRecord | undefined;
  /** The records that a scope sees, oldest first. */
  list(scope: Scope): readonly OperationRecord[];
  /** Number of operations whose scenario runs. */
  readonly running: number;
}

export interface OperationsServices extends OperationServices, PlanTools {
  /** Default: all of the registry. */
  readonly definitions?: readonly OperationDefinition[];
}

/** Makes the operations of a node: checks, plans, starts and records them. */
export function createOperations(services: OperationsServices): Operations {
  const runner = new OperationRunner(services);
  const definitions = new Map((services.definitions ?? registered).map((each) => [each.name, each]));
  const settings = new Map([...definitions].map(([name, definition]) => [name, settingsOf(definition)]));
  const planOf = async (name: string, request: OperationRequest) => {
    const definition = definitions.get(name);
    const schema = settings.get(name);
    if (!definition || !schema) throw new OperationError({ kind: 'not_found', entity: `Operation ${name}` });
    try {
      return { definition, plan: await planned(services, definition, schema, request) };
    } catch (error) {
      throw error instanceof ScenarioError ? (problemOf(error) ?? error) : error;
    }
  };
  const begin = async (name: string, request: OperationRequest): Promise<StartedOperation> => {
    const { definition, plan } = await planOf(name, request);
    const { scenario } = definition;
    if (scenario === undefined) return { response: performed(plan) };
    const overload =
      definition.startsCall && definition.target === 'none' ? services.overload?.(request.scope.domain) : undefined;
    if (overload) throw new OperationError({ kind: 'overload', ...overload });
    const { scope, userId, sensitive } = request;
    const handle = await runner.start({ operation: name, scenario, domain: scope.domain, userId, plan, sensitive });
    return { id: handle.id, response: handle.response, handle };
  };
  return {
    definitions,
    start: (name, request) =>
      observed(definitions.has(name) ? services.observer : undefined, name, () => begin(name, request)),
    preview: async (name, request) => {
      const { touches, calls } = (await planOf(name, request)).plan;
      return calls === undefined ? { dialogs: touches() } : { dialogs: touches(), calls };
    },
    read: (scope, id) => runner.read(scope, id),
    list: (scope) => runner.list(scope),
    get running() {
      return runner.running;
    },
  };
}

async function performed({ perform }: OperationPlan): Promise<Value> {
  return (await perform?.()) ?? null;
}

/**
 * Checks the parameters, finds the target, and lets the operation plan its work.
 * @param settings all parameters of the operation
 */
async function planned(
  tools: PlanTools,
  definition: OperationDefinition,
  settings: TObject,
  { scope, parameters: given, dialogid, confid, participantid, targets }: OperationRequest,
): Promise<OperationPlan> {
  const { parameters: own, target } = definition;
  const isInPath = dialogid !== undefined || confid !== undefined;
  const parameters = parseParameters(isInPath ? own : settings, target === 'none' ? given : (given ?? {}));
  const names = isInPath ? { dialogid, confid, participantid } : parameters;
  const calls = targets === undefined ? tools.calls : { lookup: () => Promise.resolve(targets) };
  return definition.plan(tools, { scope, parameters, ...(await targetOf(tools, calls, scope, target, names)) });
}

/** Finds the target. @throws ParameterError without a selector; OperationError for a missing or ambiguous target */
async function targetOf(
  tools: Omit<PlanTools, 'calls'>,
  calls: Pick<PlanTools['calls'], 'lookup'>,
  scope: Scope,
  target: OperationDefinition['target'],
  names: Readonly<Record<string, unknown>>,
): Promise<Pick<PlanRequest<unknown>, 'dialogids' | 'confid' | 'participantid'>> {
  const none = { dialogids: [], confid: '', participantid: '' };
  switch (target) {
    case 'none':
      return none;
    case 'dialog':
      return { ...none, dialogids: [await findDialog(calls, scope, names)] };
    case 'dialogs':
    case 'found': {
      const dialogids = await findDialogs(calls, scope, names);
      if (dialogids.length === 0) throw new OperationError({ kind: 'dialog_not_found' });
      return { ...none, dialogids };
    }
    case 'conference':
    case 'participant': {
      const { confid, participantid = '' } = names as { readonly confid: string; readonly participantid?: string };
      await conferenceOf(tools, scope, confid, target === 'conference' ? 'Conference' : 'Call/Participant');
      return { ...none, confid, participantid };
    }
    default:
      return target satisfies never;
  }
}
