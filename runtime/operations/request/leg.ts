/** Parameters that name a leg of a dialog. */
import { Type } from 'typebox';
import type { LiveDialog, LiveLeg } from '../../runs/index.ts';
import { notApplicable } from '../errors.ts';
import { ParameterError } from './parameters.ts';

/** The parameters that name one leg of the target dialog (specification, "SEND_DTMF", "SETUP_ASR"). */
export const LEG_PROPERTIES = {
  callid: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Call-ID of the leg.' })),
  side: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'In place of it: `a`, `b`, or a Call-ID.' }),
  ),
  opposite: Type.Optional(Type.Boolean({ default: false, description: 'The other side than the one named.' })),
};

/**
 * The leg that the parameters name.
 * @throws ParameterError when they name none; OperationError when the dialog has no such leg, or none opposite to it
 */
export function legOf(
  { legs, status }: LiveDialog,
  { callid, side, opposite = false }: { readonly callid?: string; readonly side?: string; readonly opposite?: boolean },
): LiveLeg {
  const named = callid ?? side;
  if (named === undefined) throw new ParameterError('callid', 'is missing; name the leg by callid or side');
  const field = callid === undefined ? 'side' : 'callid';
  if (status === 'forking' && (opposite || named === 'b'))
    throw notApplicable('dialogid', 'the call is not answered yet');
  const leg = legs.find((each) => each.callid === named || (callid === undefined && each.side === named));
  const meant = opposite && leg ? legs.find((each) => each.side !== leg.side) : leg;
  if (!meant) throw notApplicable(field, 'is no side of the dialog');
  return meant;
}
