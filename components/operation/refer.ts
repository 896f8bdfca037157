import { type Static, Type } from 'typebox';
import type { OperationContext, OperationHandle } from './operation.ts';
import { Binding, NumberWithTail, parseParameters, ResponseModeSchema } from './parameters.ts';
import type { OperationResponse, OperationResult, ResponseMode } from './response.ts';
import type { OperationTools } from './tools.ts';
import { findDialog, type Scope, sidesOf } from './target.ts';

/** Body of REFER (specification, "REFER (transfer to a number)"). */
export const ReferParameters = Type.Object({
  by: Type.String({ minLength: 1, maxLength: 256, description: 'SIP URI or Call-ID of the side that transfers.' }),
  referto: NumberWithTail("Number of Z; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
  binding: Type.Optional(Binding),
  response_mode: Type.Optional(ResponseModeSchema),
});
export type ReferParameters = Static<typeof ReferParameters>;

/** Answer to REFER. */
export interface ReferResponse {
  readonly dialogid: string;
  readonly result: OperationResult;
  readonly ivrcallid: string;
  readonly new_acallid?: string;
  readonly new_last_response?: string;
  readonly new_dialogid?: string;
}

/** A running operation and what its caller is answered. */
export interface Started<Response> {
  readonly handle: OperationHandle;
  /** Never rejects. */
  readonly response: Promise<Response>;
}

/**
 * Transfers the opponent of the initiator to a number.
 * @throws ParameterError, OperationError; nobody has noticed anything then
 */
export async function refer(
  tools: OperationTools,
  scope: Scope,
  target: Readonly<Record<string, unknown>>,
  given: unknown,
  context: OperationContext,
): Promise<Started<ReferResponse>> {
  const { by, referto, binding, response_mode: mode = 3 } = parseParameters(ReferParameters, given);
  const dialogid = await findDialog(tools.calls, scope, target);
  const { initiator, other } = sidesOf(tools.dialogs, dialogid, by, 'by');
  const handle = await tools.runner.start(
    {
      operation: 'refer',
      scenario: 'refer',
      args: {
        dialogid,
        side: other,
        initiator: tools.dialogs.party(dialogid, initiator)?.number ?? '',
        referto,
        ...(binding === undefined ? {} : { binding }),
      },
      responseMode: mode as ResponseMode,
    },
    context,
  );
  return { handle, response: handle.response.then((response) => ({ dialogid, ...renamed(response) })) };
}

/** The target dialog's fields, under the names that operations on a live dialog give them. */
export function renamed({
  result,
  ivrcallid,
  acallid,
  last_response: last,
  dialogid,
}: OperationResponse): Omit<ReferResponse, 'dialogid'> {
  return {
    result,
    ivrcallid,
    ...(acallid === undefined ? {} : { new_acallid: acallid }),
    ...(last === undefined ? {} : { new_last_response: last }),
    ...(dialogid === undefined ? {} : { new_dialogid: dialogid }),
  };
}
