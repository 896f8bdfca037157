import { Type } from 'typebox';
import { defineOperation, touched } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { LEG_PROPERTIES, legOf } from '../request/leg.ts';
import { live } from '../request/target.ts';
import { Layer } from './setup-record.ts';

/** Starts or stops speech recognition of a leg (specification, "SETUP_ASR"). */
export const setupAsr = defineOperation({
  name: 'setup_asr',
  summary: 'Starts or stops speech recognition of one side of a call; the results come as events `asrevents.result`.',
  parameters: Type.Object({
    command: Type.Enum(['add', 'remove'], { description: 'Start or stop.' }),
    layer: Layer('Name of the recognition; one of the same name is replaced.'),
    ...LEG_PROPERTIES,
    result_text: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Of remove: wait 2-3 seconds for the last words, and answer the text.',
      }),
    ),
    language: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
        description: 'Of add: a language tag, e.g. en-US.',
      }),
    ),
  }),
  response: Type.Object({
    result: Type.Literal('ok'),
    dialogid: Type.String(),
    layer: Type.String(),
    text: Type.Optional(
      Type.String({ description: 'Of `remove` with `result_text`: everything that was understood.' }),
    ),
  }),
  example: { command: 'add', layer: 'agent', side: 'b' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: false,
  scenario: 'setup_asr',
  plan: ({ dialogs, runServices }, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { command, layer, result_text: wait = true, language = '' } = parameters;
    const dialog = live(dialogs, scope, dialogid);
    if (dialog.status !== 'dialog') throw notApplicable('dialogid', 'the call is not answered yet');
    const args = { dialogid, command, layer, wait, language };
    const speech = runServices.callSpeech;
    if (command === 'remove') {
      speech.check(scope.domain, dialogid, { command, layer });
      return { touches: () => [touched(dialogs, scope.domain, dialogid)], args };
    }
    const { callid, side, uris } = legOf(dialog, parameters);
    speech.check(scope.domain, dialogid, { command, callid });
    return { touches: () => [{ dialogid, legs: [{ callid, side, uris }] }], args: { ...args, callid } };
  },
});
