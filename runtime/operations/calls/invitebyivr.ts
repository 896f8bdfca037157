import { Type } from 'typebox';
import type { DomainName } from '../../domain-name/index.ts';
import { DTMF_PROTOS, parseHeaders, splitDtmfTail, type StartValues, startValues } from '../../runs/index.ts';
import { ArgumentError } from '../../language/index.ts';
import { defineOperation, plannedCall, type PlanTools } from '../definition.ts';
import { notApplicable, OperationError } from '../errors.ts';
import { mayCallAs } from '../request/own-accounts.ts';
import {
  Binding,
  CallTimeout,
  HeaderText,
  NumberOrLogin,
  NumberWithTail,
  ResponseModeOption,
} from '../request/parameters.ts';
import { type OperationResponse, type OperationState, type ResponseMode, whyOf } from '../answer/response.ts';
import { RESULT, transferProgress, WHY } from '../answer/transfer-progress.ts';

/** Calls a party and runs a scenario for it (specification, "INVITEBYIVR"). */
export const inviteByIvr = defineOperation({
  name: 'invitebyivr',
  summary: 'Calls a party and runs a scenario for it.',
  parameters: Type.Object({
    to: NumberWithTail("Number of X; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
    scriptcode: Type.String({ minLength: 1, maxLength: 64, description: 'Code of the scenario.' }),
    key: Type.Optional(
      Type.String({
        maxLength: 8192,
        description: 'First parameter of the scenario; a JSON object: the parameters and variables that it names.',
      }),
    ),
    param: Type.Optional(Type.String({ maxLength: 8192, description: 'Second parameter of the scenario.' })),
    callerid: Type.Optional(NumberOrLogin('Number shown to X; default: its own. `anonymous`: none.')),
    callername: Type.Optional(Type.Unsafe<string>({ ...HeaderText('Name shown to X.'), default: 'callmanager' })),
    calltimeout: Type.Optional(CallTimeout),
    use_intercom: Type.Optional(Type.Boolean({ default: false, description: 'Let the device of X answer by itself.' })),
    binding: Type.Optional(Binding),
    headers: Type.Optional(Type.String({ description: 'Further headers of the INVITE, separated by CRLF.' })),
    dtmf_proto: Type.Optional(Type.Enum(DTMF_PROTOS, { default: 'rfc2833', description: 'How digits go to X.' })),
    response_mode: ResponseModeOption(2, 2),
  }),
  response: Type.Object({
    result: RESULT,
    ivrcallid: Type.String({ description: 'Call-ID of the initiating call.' }),
    sipcode: Type.Optional(Type.Integer({ description: 'Code of the last answer from X.' })),
    dialogid: Type.Optional(Type.String({ description: 'The dialog of the scenario with X.' })),
    ...WHY,
  }),
  example: { to: '101', scriptcode: 'menu' },
  target: 'none',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: true,
  scenario: 'invitebyivr',
  plan: async (tools, { scope, parameters }) => {
    const { to, scriptcode, key, param, headers, response_mode: mode = 2, ...given } = parameters;
    const { number } = splitDtmfTail(to);
    if (!mayCallAs(tools.directory, scope, number, 'either')) throw new OperationError({ kind: 'forbidden' });
    const start = await valuesFor(tools, scope.domain, scriptcode, key, param);
    const { domain } = scope;
    const x = tools.previewCall?.({ domain, dialled: number, useIntercom: given.use_intercom ?? false });
    return {
      touches: () => [],
      ...(x && { calls: [plannedCall('X', x)] }),
      args: {
        callerid: number,
        ...given,
        to,
        scriptcode,
        args: start.args,
        variables: start.variables,
        headers: headers === undefined ? {} : parseHeaders(headers),
      },
      responseMode: mode,
      progress: transferProgress(mode as ResponseMode, answerOf, 2),
    };
  },
});

async function valuesFor(
  tools: Pick<PlanTools, 'scenario' | 'unservedScript'>,
  domain: DomainName,
  code: string,
  key: string | undefined,
  param: string | undefined,
): Promise<StartValues> {
  const program = await tools.scenario(code, domain);
  if (!program) {
    const unserved = await tools.unservedScript?.(code, domain);
    if (!unserved) throw notApplicable('scriptcode', `there is no scenario '${code}'`);
    const { mistakes, see, isModule } = unserved;
    if (isModule)
      throw notApplicable('scriptcode', `'${code}' is a module that others import and no scenario; see ${see}`);
    const what = mistakes === 0 ? 'no version that can run' : mistakes === 1 ? '1 mistake' : `${mistakes} mistakes`;
    throw notApplicable('scriptcode', `'${code}' has ${what} and is not served; see ${see}`);
  }
  try {
    return startValues(program, key, param);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const { field, reason } = error;
    if (field === 'key' || field === 'param') throw notApplicable(field, reason);
    throw notApplicable('key', `${field}: ${reason}`);
  }
}

/** The fields of the answer. The operation has no T, so they describe F, from its first answer on. */
function answerOf({ result, ivrcallid, ...answered }: OperationResponse, { f }: OperationState, mode: ResponseMode) {
  const last = mode === 0 && result === 'ok' ? undefined : (f?.final ?? f?.provisional);
  // A local time-out is no answer of X.
  const code = result === 'error' ? undefined : last?.status;
  return {
    result,
    ivrcallid,
    ...(code === undefined ? {} : { sipcode: code }),
    ...(result === 'ok' && code !== undefined && f ? { dialogid: f.dialogid } : {}),
    ...whyOf(answered),
  };
}
