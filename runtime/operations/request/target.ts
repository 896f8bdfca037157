import {
  type TLiteral,
  type TObject,
  type TOptional,
  type TProperties,
  type TString,
  type TUnion,
  Type,
} from 'typebox';
import {
  type CallStore,
  type DialogScope as Scope,
  type DialogSelector,
  SELECTOR_KEYS,
  type SelectorKey,
} from '../../callstore/index.ts';
import { type DialogPort, legBy, type LiveDialog, type LiveLeg } from '../../runs/index.ts';
import type { OperationDefinition, PlanTools } from '../definition.ts';
import { notApplicable, OperationError } from '../errors.ts';
import { ParameterError } from './parameters.ts';

export type { DialogScope as Scope } from '../../callstore/index.ts';

/** Finds the dialogs that parameters name. */

const WHAT: Readonly<Record<SelectorKey, string>> = {
  dialogid: 'id',
  inviteid: 'id of the call that led to it',
  callid: 'Call-ID of any leg',
  uri: 'remote URI of a leg, `<sip:username@domain>`',
  from: 'number or login of a party; `mode` says which',
  sipuserid: 'id of a sipuser that takes part',
  sipuserlogin: 'login of a sipuser that takes part',
  sipuserphonenumber: 'phone number of a sipuser that takes part',
  userid: 'id of a user whose sipuser takes part',
};

/**
 * The parameters that select a dialog, by priority. With a prefix they select another dialog than the target, e.g.
 * `slavedialogid`.
 */
export function selectorProperties<const Prefix extends string>(
  prefix: Prefix,
  which = 'The dialog',
): SelectorProperties<Prefix> {
  const text = (key: SelectorKey) =>
    Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: `${which}, by ${WHAT[key]}.` }));
  const mode = Type.Enum(['number', 'sipuser'], { description: `What \`${prefix}from\` is; default: \`number\`.` });
  return {
    ...Object.fromEntries(SELECTOR_KEYS.map((key) => [prefix + key, text(key)])),
    mode: Type.Optional(mode),
  } as unknown as SelectorProperties<Prefix>;
}

type SelectorProperties<Prefix extends string> = {
  readonly [Key in SelectorKey as `${Prefix}${Key}`]: TOptional<TString>;
} & { readonly mode: TOptional<TUnion<[TLiteral<'number'>, TLiteral<'sipuser'>]>> };

const confid = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the conference.' });
const participantid = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the participant.' });

/** The parameters that name the target of an operation, if the path does not. */
export const NAMING = {
  none: {},
  dialog: selectorProperties(''),
  dialogs: selectorProperties(''),
  found: selectorProperties(''),
  conference: { confid },
  participant: { confid, participantid },
} as const satisfies Readonly<Record<OperationDefinition['target'], TProperties>>;

/** All parameters of an operation: those that name its target, and its own, which replace those of the same name. */
export function settingsOf({ target, parameters }: Pick<OperationDefinition, 'target' | 'parameters'>): TObject {
  return target === 'none' ? parameters : Type.Object({ ...NAMING[target], ...parameters.properties });
}

/**
 * The dialogs that parameters name, oldest first; empty when there are none. Constant time.
 * @throws ParameterError when no selector is given
 */
export function findDialogs(
  calls: Pick<CallStore, 'lookup'>,
  scope: Scope,
  parameters: Readonly<Record<string, unknown>>,
  prefix = '',
): Promise<readonly string[]> {
  return calls.lookup(scope, selectorOf(parameters, prefix).selector);
}

/**
 * The one dialog that parameters name by a selector, e.g. `dialogid`, or with a prefix `slavedialogid`.
 * @throws ParameterError when no selector is given; OperationError when none or several dialogs match
 */
export async function findDialog(
  calls: Pick<CallStore, 'lookup'>,
  scope: Scope,
  parameters: Readonly<Record<string, unknown>>,
  prefix = '',
): Promise<string> {
  const { key, selector } = selectorOf(parameters, prefix);
  const ids = await calls.lookup(scope, selector);
  const [id, second] = ids;
  if (id === undefined) throw new OperationError({ kind: 'dialog_not_found' });
  if (second !== undefined) throw new OperationError({ kind: 'ambiguous', field: prefix + key, ids });
  return id;
}

/**
 * The selector among parameters.
 * @throws ParameterError when there is none
 */
export function selectorOf(
  parameters: Readonly<Record<string, unknown>>,
  prefix: string,
): { readonly key: SelectorKey; readonly selector: DialogSelector } {
  const key = SELECTOR_KEYS.find((name) => parameters[prefix + name] !== undefined);
  if (key === undefined) {
    throw new ParameterError(
      `${prefix}dialogid`,
      `is missing; name the dialog by one of ${SELECTOR_KEYS.map((name) => prefix + name).join(', ')}`,
    );
  }
  const value = parameters[prefix + key];
  if (typeof value !== 'string' || value === '') throw new ParameterError(prefix + key, 'must be a non-empty text');
  const { mode } = parameters;
  if (key !== 'from' || (mode !== 'number' && mode !== 'sipuser')) return { key, selector: { [key]: value } };
  return { key, selector: { [key]: value, mode } };
}

/** The live dialog of this id. @throws OperationError when it is over */
export function live(dialogs: DialogPort, { domain }: Scope, dialogid: string): LiveDialog {
  const dialog = dialogs.find(domain, dialogid);
  if (!dialog) throw new OperationError({ kind: 'dialog_not_found' });
  return dialog;
}

/** What a plan sees of a dialog, at this node or another one. */
export type SeenDialog = Pick<LiveDialog, 'dialogid' | 'status' | 'legs'>;

/** The live dialog of this id, whichever node has it. @throws OperationError when it is over */
export async function liveAnywhere(
  { dialogs, dialogElsewhere }: Pick<PlanTools, 'dialogs' | 'dialogElsewhere'>,
  { domain }: Scope,
  dialogid: string,
): Promise<SeenDialog> {
  const dialog = dialogs.find(domain, dialogid) ?? (await dialogElsewhere?.(domain, dialogid));
  if (dialog === undefined) throw new OperationError({ kind: 'dialog_not_found' });
  return dialog;
}

/** The sides of an answered dialog, as the initiator of a transfer sees them. */
export interface Sides {
  readonly initiator: LiveLeg;
  readonly opponent: LiveLeg;
}

/**
 * The transferring and the transferred side of a dialog.
 * @param by SIP URI or Call-ID
 * @param field name of the parameter that holds `by`
 * @throws OperationError when the dialog is not answered yet, or `by` is no side of it
 */
export function sidesOf(dialog: SeenDialog, by: string, field: string): Sides {
  if (dialog.status !== 'dialog') throw notApplicable('dialogid', 'the call is not answered yet');
  const initiator = legBy(dialog, by);
  const opponent = dialog.legs.find(({ side }) => side !== initiator?.side);
  if (!initiator || !opponent) throw notApplicable(field, 'is neither URI nor Call-ID of a side of the dialog');
  return { initiator, opponent };
}
