/** The common part of REFER and REFERCONF: one side of a dialog is taken over, and transferred. */
import { Type } from 'typebox';
import type { Value } from '../../language/index.ts';
import { type OperationPlan, type PlanTools, touched } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { Binding, ResponseModeOption, SideName } from '../request/parameters.ts';
import type { ResponseMode } from '../answer/response.ts';
import { live, type Scope, sidesOf } from '../request/target.ts';
import { RENAMED_FIELDS, renamed, transferProgress } from '../answer/transfer-progress.ts';

export const TRANSFER_PARAMETERS = {
  by: SideName('Side that transfers: SIP URI or Call-ID. The opposite side is transferred.'),
  binding: Type.Optional(Binding),
  response_mode: ResponseModeOption(3),
} as const;

export const TransferResponse = Type.Object({
  dialogid: Type.String({ description: 'As asked.' }),
  ...RENAMED_FIELDS,
});

/**
 * Plans the transfer of the side opposite to `by`.
 * @param more further arguments of the scenario
 * @throws OperationError when the dialog is over or not answered, `by` is no side of it, or the opposite side is no phone
 */
export function transferPlan(
  { dialogs }: Pick<PlanTools, 'dialogs'>,
  scope: Scope,
  dialogid: string,
  {
    by,
    binding,
    response_mode: mode = 3,
  }: { readonly by: string; readonly binding?: string; readonly response_mode?: number },
  more: Readonly<Record<string, Value>>,
): OperationPlan {
  const { initiator, opponent } = sidesOf(live(dialogs, scope, dialogid), by, 'by');
  if (!opponent.movable)
    throw notApplicable('by', 'the opposite side cannot be transferred: it is no phone, or the node of its call died');
  return {
    touches: () => [touched(dialogs, scope.domain, dialogid)],
    args: {
      dialogid,
      side: opponent.side,
      initiator: initiator.number,
      initiator_domain: initiator.domain,
      referred_by: initiator.uris.at(-1) ?? '',
      ...more,
      ...(binding === undefined ? {} : { binding }),
    },
    responseMode: mode,
    progress: transferProgress(mode as ResponseMode, (response) => ({ dialogid, ...renamed(response) })),
  };
}
