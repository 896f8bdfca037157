/** The operation SETUP_RECORD. */
import { Type } from 'typebox';
import { defineOperation } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { LEG_PROPERTIES, legOf } from '../request/leg.ts';
import { live } from '../request/target.ts';

/** Milliseconds: two hours (specification, "Limits"). */
const DEFAULT_TIMEOUT = 7_200_000;
/** Milliseconds: one week. */
const MAX_TIMEOUT = 604_800_000;

/** The name of a layer of SETUP_RECORD and SETUP_ASR. */
export const Layer = (what: string) =>
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description: what });

const { callid, side } = LEG_PROPERTIES;

/** Controls the recordings of a call (specification, "SETUP_RECORD"). */
export const setupRecord = defineOperation({
  name: 'setup_record',
  summary: 'Pauses or resumes the main recording of a call, or records one side or both beside that.',
  parameters: Type.Object({
    command: Type.Enum(['add', 'remove', 'pause', 'resume'], {
      description: '`add` and `remove` an extra recording; `pause` and `resume` the main one.',
    }),
    layer: Type.Optional(
      Type.Unsafe<string>({ ...Layer('Name of the extra recording, for add and remove.'), default: 'default' }),
    ),
    callid,
    side,
    timeout: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TIMEOUT,
        default: DEFAULT_TIMEOUT,
        description: 'For add: milliseconds after which it ends by itself.',
      }),
    ),
  }),
  response: Type.Object({
    result: Type.Literal('ok'),
    dialogid: Type.String(),
    layer: Type.Optional(Type.String({ description: 'Of `add` and `remove`.' })),
  }),
  example: { command: 'pause' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'setup_record',
  plan: ({ dialogs, runServices }, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { command, layer = 'default', timeout = DEFAULT_TIMEOUT } = parameters;
    const dialog = live(dialogs, scope, dialogid);
    if (dialog.status !== 'dialog') throw notApplicable('dialogid', 'the call is not answered yet');
    const { callid: id, side: named } = parameters;
    const leg = command === 'add' && (id ?? named) !== undefined ? legOf(dialog, parameters) : undefined;
    const change = command === 'add' ? { command, callid: leg?.callid } : { command, layer };
    runServices.callRecording.check(scope.domain, dialogid, change);
    const legs = leg === undefined ? dialog.legs : [leg];
    return {
      touches: () => [
        { dialogid, legs: legs.map((each) => ({ callid: each.callid, side: each.side, uris: each.uris })) },
      ],
      args: { dialogid, command, layer, callid: leg?.callid ?? '', timeout },
    };
  },
});
