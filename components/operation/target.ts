import {
  type CallStore,
  type DialogSelector,
  SELECTOR_KEYS,
  type SelectorKey,
} from '../../runtime/callstore/callstore.ts';
import { type DialogControl, type Side, opposite } from './dialog-control.ts';
import { OperationError } from './errors.ts';
import { ParameterError } from './parameters.ts';

/** Who may be named: all dialogs of the domain, or only those in which a sipuser of this user takes part. */
export interface Scope {
  readonly domain: string;
  /** Present on the own-calls path. */
  readonly ownUserId?: string;
}

/** Finds the dialogs that a selector means, within a scope, oldest first. */
export async function findDialogs(
  calls: CallStore,
  scope: Scope,
  selector: DialogSelector,
): Promise<readonly string[]> {
  const ids = await calls.lookup(scope.domain, selector);
  if (scope.ownUserId === undefined || ids.length === 0) return ids;
  const own = new Set(await calls.lookup(scope.domain, { userid: scope.ownUserId }));
  return ids.filter((id) => own.has(id));
}

/**
 * The one dialog that parameters name by a selector, e.g. `dialogid`, or with a prefix `slavedialogid`.
 * @throws ParameterError when no selector is given; OperationError when none or several dialogs match
 */
export async function findDialog(
  calls: CallStore,
  scope: Scope,
  parameters: Readonly<Record<string, unknown>>,
  prefix = '',
): Promise<string> {
  const key = SELECTOR_KEYS.find((name) => parameters[prefix + name] !== undefined);
  if (key === undefined) {
    throw new ParameterError(
      `${prefix}dialogid`,
      `name the dialog by one of ${SELECTOR_KEYS.map((name) => prefix + name).join(', ')}`,
    );
  }
  const ids = await findDialogs(calls, scope, selectorOf(parameters, key, prefix));
  const [id, second] = ids;
  if (id === undefined) throw new OperationError({ kind: 'dialog_not_found' });
  if (second !== undefined) throw new OperationError({ kind: 'ambiguous', field: prefix + key, ids });
  return id;
}

function selectorOf(parameters: Readonly<Record<string, unknown>>, key: SelectorKey, prefix: string): DialogSelector {
  const value = parameters[prefix + key];
  if (typeof value !== 'string' || value === '')
    throw new ParameterError(prefix + key, 'must be a text that is not empty');
  const { mode } = parameters;
  return { [key]: value, ...(key === 'from' && (mode === 'number' || mode === 'sipuser') ? { mode } : {}) };
}

/**
 * The side of an established dialog that an initiator means.
 * @param field name of the parameter that holds `by`
 * @returns the side of the initiator and the opposite one
 * @throws OperationError when nobody has answered yet, or `by` is no side of the dialog
 */
export function sidesOf(
  control: DialogControl,
  dialogid: string,
  by: string,
  field: string,
): { readonly initiator: Side; readonly other: Side } {
  if (!control.established(dialogid)) {
    throw new OperationError({ kind: 'not_applicable', field: 'dialogid', reason: 'the call is not answered yet' });
  }
  const initiator = control.sideOf(dialogid, by);
  if (initiator === undefined) {
    throw new OperationError({
      kind: 'not_applicable',
      field,
      reason: 'is neither URI nor Call-ID of a side of the dialog',
    });
  }
  return { initiator, other: opposite(initiator) };
}
