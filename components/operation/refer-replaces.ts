import { Type } from 'typebox';
import type { OperationContext } from './operation.ts';
import { Binding, parseParameters, ResponseModeSchema } from './parameters.ts';
import { type ReferResponse, renamed, type Started } from './refer.ts';
import type { ResponseMode } from './response.ts';
import { findDialog, type Scope, sidesOf } from './target.ts';
import type { OperationTools } from './tools.ts';

const slave = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: `The slave dialog, by ${what}.` }));

/** Body of REFERREPLACES (specification, "REFERREPLACES"). */
export const ReferReplacesParameters = Type.Object({
  masterby: Type.String({ minLength: 1, maxLength: 256, description: 'Side of the master dialog that transfers.' }),
  slaveby: Type.String({ minLength: 1, maxLength: 256, description: 'Side of the slave dialog to be replaced.' }),
  slavedialogid: slave('id'),
  slaveinviteid: slave('invite id'),
  slavecallid: slave('Call-ID of a leg'),
  slaveuri: slave('remote URI of a leg'),
  slavefrom: slave('number or login'),
  mode: Type.Optional(Type.Enum(['number', 'sipuser'], { default: 'number', description: 'What `slavefrom` is.' })),
  slavesipuserid: slave('sipuser id'),
  slavesipuserlogin: slave('sipuser login'),
  slavesipuserphonenumber: slave('sipuser phone number'),
  slaveuserid: slave('user id'),
  binding: Type.Optional(Binding),
  response_mode: Type.Optional(Type.Unsafe<number>({ ...ResponseModeSchema, default: 4 })),
});

/** Answer to REFERREPLACES. */
export interface ReferReplacesResponse extends Omit<ReferResponse, 'dialogid'> {
  readonly masterdialogid: string;
  readonly slavedialogid: string;
}

/**
 * Joins the parties of two dialogs: X-Y and X-Z become Y-Z.
 * @throws ParameterError, OperationError; nobody has noticed anything then
 */
export async function referReplaces(
  tools: OperationTools,
  scope: Scope,
  target: Readonly<Record<string, unknown>>,
  given: unknown,
  context: OperationContext,
): Promise<Started<ReferReplacesResponse>> {
  const parameters = parseParameters(ReferReplacesParameters, given);
  const { masterby, slaveby, binding, response_mode: mode = 4 } = parameters;
  const masterdialogid = await findDialog(tools.calls, scope, target);
  const slavedialogid = await findDialog(tools.calls, scope, parameters, 'slave');
  const master = sidesOf(tools.dialogs, masterdialogid, masterby, 'masterby');
  const other = sidesOf(tools.dialogs, slavedialogid, slaveby, 'slaveby');
  if (binding !== undefined) {
    tools.dialogs.setBindings(masterdialogid, [...(tools.dialogs.bindings(masterdialogid) ?? []), binding]);
  }
  const handle = await tools.runner.start(
    {
      operation: 'referreplaces',
      scenario: 'referreplaces',
      args: {
        master: masterdialogid,
        master_side: master.other,
        slave: slavedialogid,
        slave_side: other.other,
        initiator: tools.dialogs.party(masterdialogid, master.initiator)?.number ?? '',
      },
      responseMode: mode as ResponseMode,
    },
    context,
  );
  return {
    handle,
    response: handle.response.then((response) => ({ masterdialogid, slavedialogid, ...renamed(response) })),
  };
}
