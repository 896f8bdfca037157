/** The operation INVITE. */
import { type Static, Type } from 'typebox';
import { type CallPreviews, splitDtmfTail } from '../../runs/index.ts';
import { defineOperation, plannedCall, type PlannedCall } from '../definition.ts';
import { OperationError } from '../errors.ts';
import { mayCallAs } from '../request/own-accounts.ts';
import {
  Binding,
  CallTimeout,
  HeaderText,
  NumberOrLogin,
  NumberWithTail,
  ResponseModeOption,
  TargetTimeout,
} from '../request/parameters.ts';
import type { ResponseMode } from '../answer/response.ts';
import type { Scope } from '../request/target.ts';
import { RESULT, transferProgress, WHY } from '../answer/transfer-progress.ts';

/** Body of POST and INVITE (specification, "POST / INVITE (initiate call)"). */
export const InviteParameters = Type.Object({
  mode: Type.Optional(Type.Enum(['number', 'sipuser'], { default: 'number', description: 'What `from` is.' })),
  from: NumberOrLogin('Number or login of X, who is called first.'),
  to: NumberWithTail("Number of Y; the first ' or , starts a DTMF tail, every later one is a pause of 1 s."),
  callerid: Type.Optional(
    NumberOrLogin('Number shown to X; default: `from`. `anonymous`: none, and Y sees no number of X.'),
  ),
  callername: Type.Optional(Type.Unsafe<string>({ ...HeaderText('Name shown to X.'), default: 'callmanager' })),
  calltimeout: Type.Optional(CallTimeout),
  targettimeout: Type.Optional(TargetTimeout),
  binding: Type.Optional(Binding),
  response_mode: ResponseModeOption(3),
  use_intercom: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Let the device of X answer by itself, through the intercom featurecode.',
    }),
  ),
});

/** Answer to POST and INVITE. */
export const InviteResponse = Type.Object({
  result: RESULT,
  ivrcallid: Type.String({ description: 'Call-ID of the initiating call IVR -> X.' }),
  acallid: Type.Optional(Type.String({ description: 'Call-ID of the A leg of the target dialog X -> Y.' })),
  last_response: Type.Optional(Type.String({ description: 'Status line of the last answer from Y.' })),
  dialogid: Type.Optional(Type.String({ description: 'The target dialog.' })),
  ...WHY,
});

/** Calls X, and when X answers, transfers X to Y (specification, "POST / INVITE (initiate call)"). */
export const invite = defineOperation({
  name: 'invite',
  summary: 'Calls X; when X answers, X is transferred to Y.',
  parameters: InviteParameters,
  response: InviteResponse,
  example: { from: '101', to: '102', response_mode: 4 },
  target: 'none',
  http: { on: 'calls', paths: ['domain', 'own'], verb: 'POST' },
  startsCall: true,
  scenario: 'invite',
  plan: ({ directory, previewCall }, { scope, parameters }) => {
    const { from, mode: kind = 'number' } = parameters;
    if (!mayCallAs(directory, scope, from, kind)) throw new OperationError({ kind: 'forbidden' });
    // The scenario takes the parameters of the request with the same defaults; only the runner needs the response mode.
    const { response_mode: mode = 3, ...args } = parameters;
    return {
      touches: () => [],
      ...(previewCall && { calls: callsOf(previewCall, scope, parameters) }),
      args,
      responseMode: mode,
      progress: transferProgress(mode as ResponseMode, (response) => ({ ...response })),
    };
  },
});

/** The call to X, and X's call to Y. The own-calls path does not show the addresses of other users. */
function callsOf(
  preview: CallPreviews,
  { domain, ownUserId }: Scope,
  { from, to, mode = 'number', use_intercom: useIntercom = false }: Static<typeof InviteParameters>,
): readonly PlannedCall[] {
  const x = preview({ domain, dialled: from, mode, useIntercom });
  const { number } = splitDtmfTail(to);
  const y = preview({
    domain: x.domain,
    dialled: number,
    ...(x.ownNumber === undefined ? {} : { callerNumber: x.ownNumber }),
  });
  return [plannedCall('X', x), plannedCall('Y', y, ownUserId === undefined)];
}
