import type { CallStore } from '../../runtime/callstore/callstore.ts';
import { type BindingsResponse, setupBindings } from './bindings.ts';
import type { DialogControl } from './dialog-control.ts';
import { OperationError } from './errors.ts';
import { type OperationContext, type OperationHandle, OperationRunner, type OperationServices } from './operation.ts';
import { InviteParameters, parseParameters } from './parameters.ts';
import type { OperationRecord } from './record.ts';
import { refer, type ReferResponse, type Started } from './refer.ts';
import { referReplaces, type ReferReplacesResponse } from './refer-replaces.ts';
import type { ResponseMode } from './response.ts';
import { findDialog, findDialogs, type Scope } from './target.ts';

/** Names a dialog: a selector, e.g. `{dialogid}` or `{from, mode}`. */
export type Target = Readonly<Record<string, unknown>>;

/**
 * The call operations. Those that call or move somebody are hidden scenarios of `scenarios/service`.
 * All throw ParameterError for parameters that are missing or not allowed, and OperationError when the dialog is not
 * there, several are meant, or it cannot be done; nobody has noticed anything then.
 */
export interface Operations {
  /**
   * Calls X, and when X answers, transfers X to Y (specification, "POST / INVITE").
   * @param parameters the request body, unchecked
   */
  invite(parameters: unknown, context: OperationContext): Promise<OperationHandle>;
  /** Transfers the opponent of the initiator to a number (specification, "REFER"). */
  refer(scope: Scope, target: Target, parameters: unknown, context: OperationContext): Promise<Started<ReferResponse>>;
  /** Joins the parties of two dialogs (specification, "REFERREPLACES"). */
  referReplaces(
    scope: Scope,
    target: Target,
    parameters: unknown,
    context: OperationContext,
  ): Promise<Started<ReferReplacesResponse>>;
  /** Reads or changes labels (specification, "SETUP_BINDINGS"). */
  setupBindings(scope: Scope, target: Target, parameters: unknown): Promise<BindingsResponse>;
  /** Ends one dialog (specification, "DELETE (terminate)"). */
  terminate(scope: Scope, target: Target): Promise<{ readonly dialogid: string }>;
  /** Finds dialogs, oldest first (specification, "LOOKUP"). */
  lookup(scope: Scope, selector: Parameters<CallStore['lookup']>[1]): Promise<readonly string[]>;
  /** What an operation did so far; kept for an hour after its end. */
  read(domain: string, id: string): OperationRecord | undefined;
  /** Operations whose scenario runs. */
  readonly running: number;
}

export interface OperationsServices extends OperationServices {
  readonly calls: CallStore;
  readonly dialogs: DialogControl;
}

export function createOperations(services: OperationsServices): Operations {
  const runner = new OperationRunner(services);
  const { calls, dialogs } = services;
  const tools = { runner, calls, dialogs };
  return {
    invite: (parameters, context) => invite(runner, parameters, context),
    refer: (scope, target, parameters, context) => refer(tools, scope, target, parameters, context),
    referReplaces: (scope, target, parameters, context) => referReplaces(tools, scope, target, parameters, context),
    setupBindings: (scope, target, parameters) => setupBindings(tools, scope, target, parameters),
    terminate: async (scope, target) => {
      const dialogid = await findDialog(calls, scope, target);
      if (!dialogs.terminate(dialogid)) throw new OperationError({ kind: 'dialog_not_found' });
      return { dialogid };
    },
    lookup: (scope, selector) => findDialogs(calls, scope, selector),
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

export { BindingsParameters } from './bindings.ts';
export type { DialogControl } from './dialog-control.ts';
export { OperationError, type OperationProblem } from './errors.ts';
export {
  MissingScenarioError,
  type OperationContext,
  type OperationHandle,
  type OperationServices,
} from './operation.ts';
export { InviteParameters, InviteResponse, ParameterError } from './parameters.ts';
export type { MilestoneRecord, OperationRecord } from './record.ts';
export { ReferParameters, type Started } from './refer.ts';
export { ReferReplacesParameters } from './refer-replaces.ts';
export type { OperationResponse, OperationResult, ResponseMode } from './response.ts';
export type { Scope } from './target.ts';
